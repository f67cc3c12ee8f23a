-- Pictures of nodes and publishers that lie at strangers' addresses, made small. They are fetched again after a day.
create table picture (
  -- digest of address and size
  key text primary key,
  -- WebP; null: what lies there cannot be shown
  bytes bytea check (octet_length(bytes) <= 262144),
  fetched_at timestamptz not null default clock_timestamp()
);

create index picture_by_age on picture (fetched_at);
