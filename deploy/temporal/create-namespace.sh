#!/bin/sh
# Makes the namespace that Kiln's workflows run in, unless it is there. The temporal command reads TEMPORAL_ADDRESS.
set -eu

until temporal operator cluster health >/dev/null 2>&1; do
  echo "waiting for Temporal at $TEMPORAL_ADDRESS"
  sleep 1
done

if temporal operator namespace describe --namespace "$TEMPORAL_NAMESPACE" >/dev/null 2>&1; then
  echo "namespace $TEMPORAL_NAMESPACE is there"
else
  # Histories and visibility rows of ended workflows go after this time; a row takes about 27 kB of the database.
  temporal operator namespace create --namespace "$TEMPORAL_NAMESPACE" --retention 72h
fi
