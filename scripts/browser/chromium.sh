#!/usr/bin/env bash
# chromium.sh  unpacks Debian's packages of a headless Chromium into the cache and prints its path.
. "$(dirname "$0")/../databases/_process.sh"
. "$(dirname "$0")/../databases/_packages.sh"

# Chromium restarts its own /proc/self/exe for each tab. Under the packages' loader that would be the loader, so the
# machine's loader runs it and the C library is the machine's too. Graphics drivers and their compilers are half of all
# bytes, and a headless browser does not use them.
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
