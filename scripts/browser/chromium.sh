#!/usr/bin/env bash
# chromium.sh  prints the path of a Chromium without windows, out of Debian's packages that are unpacked into the cache.
. "$(dirname "$0")/../databases/_process.sh"
. "$(dirname "$0")/../databases/_packages.sh"

# A browser starts itself again for each tab, by what /proc says that it is: run through the packages' own loader it would be
# that loader. So the machine's loader runs it, and the C library has to be the machine's too. Drivers of graphics cards and
# what they compile with are half of all bytes, and nothing is drawn here.
OMIT=('libc6_*' 'libgl1-mesa-dri_*' 'libllvm*' 'libz3-*')
FINISH=write_starter

write_starter() {
  local root=$1/root paths
  paths=$(find "$root"/lib/ "$root"/usr/lib/ -maxdepth 1 -type d -name '*-linux-gnu' -printf '%p:')
  paths+=$(find "$root"/usr/lib/*-linux-gnu -maxdepth 1 -type d -name pulseaudio)
  cat >"$1/fonts.conf" <<FONTS
<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "urn:fontconfig:fonts.dtd">
<fontconfig><dir>$root/usr/share/fonts</dir><cachedir>$1/fonts</cachedir></fontconfig>
FONTS
  printf '#!/bin/sh\nexport FONTCONFIG_FILE=%q LD_LIBRARY_PATH=%q\nexec %q "$@"\n' \
    "$1/fonts.conf" "$paths" "$root/usr/lib/chromium/chromium-headless-shell" >"$1/chromium"
  chmod 755 "$1/chromium"
}

unpack chromium-bookworm bookworm chromium-headless-shell
echo "$CACHE/chromium-bookworm/chromium"
