#!/bin/bash
# Does of the official image's entry point what docker-compose.yml uses: the first start makes the cluster and runs the
# scripts of /docker-entrypoint-initdb.d on a server that answers on the socket alone.
set -euo pipefail

BIN=/usr/lib/postgresql/18/bin
if [ "$1" != postgres ]; then exec "$@"; fi
if [ "$(id -u)" = 0 ]; then
  install --directory --owner=postgres --group=postgres --mode=700 "$PGDATA"
  exec setpriv --reuid=postgres --regid=postgres --clear-groups "$0" "$@"
fi
export POSTGRES_USER="${POSTGRES_USER:-postgres}"
if [ ! -s "$PGDATA/PG_VERSION" ]; then
  : "${POSTGRES_PASSWORD:?}"
  # The official image has en_US.utf8, which this base does not.
  "$BIN/initdb" --pgdata="$PGDATA" --username="$POSTGRES_USER" --pwfile=<(printf '%s\n' "$POSTGRES_PASSWORD") \
    --auth-local=trust --auth-host=trust --encoding=UTF8 --locale=C.UTF-8
  printf '\nhost all all all scram-sha-256\n' >>"$PGDATA/pg_hba.conf"
  cat >>"$PGDATA/postgresql.conf" <<'CONF'
listen_addresses = '*'
unix_socket_directories = '/var/run/postgresql'
CONF
  "$BIN/pg_ctl" --pgdata="$PGDATA" --options="-c listen_addresses=''" --wait start
  database="${POSTGRES_DB:-$POSTGRES_USER}"
  if [ "$database" != postgres ]; then
    psql --no-psqlrc --username="$POSTGRES_USER" --dbname=postgres --command="create database \"$database\""
  fi
  for script in /docker-entrypoint-initdb.d/*.sh; do
    if [ -x "$script" ]; then "$script"; elif [ -f "$script" ]; then . "$script"; fi
  done
  "$BIN/pg_ctl" --pgdata="$PGDATA" --mode=fast --wait stop
fi
shift
exec "$BIN/postgres" -D "$PGDATA" "$@"
