# Sourced, never run: fetches Debian packages and unpacks them into the cache. It installs nothing and needs no root.
# The mirror is the one of this machine's apt.
CACHE=${SQL_QUEUE_CACHE:-$HOME/.cache/nestjs-sql-queue}
DEB_KEYRING=${DEB_KEYRING:-/usr/share/keyrings/debian-archive-keyring.gpg}

# Sites that may be Debian's, likeliest first: those of this machine's apt, also before its first update (`apt-get
# indextargets` then prints none). A site that is not Debian's fails the signature check.
debian_sites() {
  local codename
  codename=$(. /etc/os-release && echo "${VERSION_CODENAME:-stable}")
  {
    [ -z "${DEB_MIRROR:-}" ] || echo "$DEB_MIRROR"
    apt-get --print-uris update 2>/dev/null | sed -n "s#^'\(.*\)/dists/\([^/]*\)/InRelease'.*#\2 \1#p" |
      awk -v codename="$codename" '$1 !~ /security/ { print ($1 == codename ? 0 : 1), $2 }' |
      sort -k1,1n -s | cut -d' ' -f2
  } | awk '!seen[$0]++'
}

# unpack NAME SUITE PACKAGE...  -> $CACHE/NAME/prefix/usr has the packages and all their dependencies, with programs
# that do not use this machine's libraries. FINISH names a function to call in place of wrap_programs. OMIT lists
# patterns of packages not to unpack.
FINISH=wrap_programs OMIT=()
unpack() {
  local name=$1 suite=$2
  shift 2
  local dir=$CACHE/$name
  [ ! -e "$dir/complete" ] || return 0
  mkdir -p "$dir"
  exec 8>"$dir/.lock"
  flock 8
  if [ ! -e "$dir/complete" ]; then
    [ -r "$DEB_KEYRING" ] || die "not installed, and to fetch it Debian's keyring $DEB_KEYRING is needed"
    command -v apt-get >/dev/null || die "not installed, and to fetch it apt-get is needed"
    download "$dir/apt" "$suite" "$@"
    log "unpacking $(ls "$dir"/apt/cache/archives/*.deb | wc -l) packages"
    extract "$dir"
    "$FINISH" "$dir"
    rm -rf "$dir/apt"
    touch "$dir/complete"
    log "unpacked: $(du -sm "$dir/root" | cut -f1) MB in $dir"
  fi
  exec 8>&-
}

# Runs apt with its own state and an empty list of installed packages: it resolves all dependencies, checks every
# signature and changes nothing on the machine.
download() {
  local apt=$1 suite=$2 site
  shift 2
  rm -rf "$apt"
  mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial"
  : >"$apt/status"
  cat >"$apt/apt.conf" <<CONF
Dir::State "$apt";
Dir::State::Lists "$apt/lists";
Dir::State::status "$apt/status";
Dir::Cache "$apt/cache";
Dir::Cache::archives "$apt/cache/archives";
Dir::Log "$apt";
Dir::Etc::sourcelist "$apt/sources.list";
Dir::Etc::sourceparts "/dev/null";
Dir::Etc::preferences "/dev/null";
Dir::Etc::preferencesparts "/dev/null";
APT::Install-Recommends "false";
APT::Install-Suggests "false";
APT::Sandbox::User "root";
Acquire::Languages "none";
Acquire::Retries "3";
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
#clear DPkg::Post-Invoke;
CONF
  # set -e has no effect inside a condition, so && joins the steps.
  for site in $(debian_sites); do
    log "fetching $* from Debian $suite"
    {
      echo "deb [signed-by=$DEB_KEYRING] $site $suite main"
      # A suite without point releases has no updates of its own.
      [ "$suite" = sid ] || echo "deb [signed-by=$DEB_KEYRING] $site $suite-updates main"
    } >"$apt/sources.list"
    if APT_CONFIG=$apt/apt.conf apt-get -qq -o APT::Update::Error-Mode=any update >&2 &&
      APT_CONFIG=$apt/apt.conf apt-get -qq -y --download-only install "$@" >&2; then
      return
    fi
    rm -rf "$apt"/lists/*
    mkdir -p "$apt/lists/partial"
  done
  die "not installed, and $* could not be fetched from Debian $suite"
}

extract() {
  local dir=$1 deb link omitted
  rm -rf "$dir/root"
  mkdir -p "$dir/root"
  for deb in "$dir"/apt/cache/archives/*.deb; do
    # These packages install a server; they do not run it.
    case ${deb##*/} in
    perl_* | perl-base_* | perl-modules* | libperl* | systemd* | debconf* | passwd_* | psmisc_* | coreutils_* | tar_* | dpkg_*) continue ;;
    esac
    for omitted in "${OMIT[@]}"; do [[ ${deb##*/} != $omitted ]] || continue 2; done
    dpkg-deb --fsys-tarfile "$deb" | tar -x --no-same-owner -C "$dir/root" \
      --exclude=./usr/share/doc --exclude=./usr/share/man --exclude=./usr/share/locale --exclude=./etc \
      --exclude=./usr/lib/systemd --exclude=./lib/systemd/system --exclude=./usr/lib/mysql/plugin/debug
  done
  for link in lib lib64 bin sbin; do
    if [ ! -e "$dir/root/$link" ] && [ -d "$dir/root/usr/$link" ]; then ln -s "usr/$link" "$dir/root/$link"; fi
  done
}

# DIR/prefix/usr looks like an installed /usr: each program is a two-line script that runs the unpacked one with its own
# loader and libraries. The script uses exec, so that its pid is the server's.
wrap_programs() {
  local dir=$1 root=$1/root prefix=$1/prefix loader path='' bin file to
  for bin in lib usr/lib; do
    path+=$(find "$root/$bin/" -maxdepth 1 -type d -name '*-linux-gnu' -printf ':%p' 2>/dev/null)
  done
  path=${path#:}:$(find "$root/usr/lib" -maxdepth 2 -type d -path '*-linux-gnu/systemd')
  loader=$(find "$root/lib/" "$root/usr/lib/" -maxdepth 2 -name 'ld-linux-*.so.*' | head -n 1)
  [ -n "$loader" ] || die "no loader among the packages in $root"
  rm -rf "$prefix"
  mkdir -p "$prefix/usr/bin" "$prefix/usr/sbin" "$prefix/usr/lib"
  ln -s "$root/usr/share" "$prefix/usr/share"
  for file in "$root"/usr/lib/*; do ln -s "$file" "$prefix/usr/lib/"; done
  for bin in usr/bin usr/sbin bin sbin; do
    [ -d "$root/$bin" ] && [ ! -L "$root/$bin" ] || continue
    for file in "$root/$bin"/*; do
      to=$prefix/usr/${bin##*/}/${file##*/}
      [ -e "$file" ] && [ ! -e "$to" ] || continue
      if [ "$(head -c 4 "$file" | tr -d '\0')" = $'\x7fELF' ]; then
        # --argv0 is a full path, because mysqld searches $PATH for a bare name.
        printf '#!/bin/sh\nexec %q --argv0 %q --library-path %q %q "$@"\n' \
          "$loader" "$to" "$path" "$(readlink -f "$file")" >"$to"
        chmod 755 "$to"
      else
        ln -s "$file" "$to"
      fi
    done
  done
}
