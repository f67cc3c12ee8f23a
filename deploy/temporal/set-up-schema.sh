#!/bin/sh
# Makes Temporal's two databases and brings their tables to the version of this image. Each command leaves alone what is
# there already, so it runs at every start. The tool reads SQL_PLUGIN, SQL_HOST, SQL_PORT, SQL_USER and SQL_PASSWORD.
set -eu

set_up() {
  temporal-sql-tool --database "$1" create-database
  temporal-sql-tool --database "$1" setup-schema --version 0.0
  temporal-sql-tool --database "$1" update-schema --schema-name "postgresql/v12/$2"
}

set_up temporal temporal
set_up temporal_visibility visibility
