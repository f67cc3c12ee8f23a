#!/bin/sh
# Runs once, when the PostgreSQL image makes its cluster: a role for each of its two users, neither of them a superuser.
# Temporal makes its own databases, so its role may create some; ours is made here.
set -eu

psql --no-psqlrc --set=ON_ERROR_STOP=1 --username="$POSTGRES_USER" --dbname=postgres \
  --set=kiln_password="$KILN_DATABASE_PASSWORD" \
  --set=temporal_password="$TEMPORAL_DATABASE_PASSWORD" <<'SQL'
create role kiln login password :'kiln_password';
create role temporal login createdb password :'temporal_password';
create database kiln owner kiln;
SQL
