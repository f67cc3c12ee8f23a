-- Whose CI jobs may publish a node, by what their identity tokens say.
-- earlier: 163064a7a7077546161db984f87a2dd395fb42c364d1099c8b6c5036d7246573
create table trusted_publisher (
  id uuid primary key default gen_random_uuid(),
  publisher_id text collate "C" not null references publisher (id),
  node_id text collate "C" not null references node (id),
  provider text not null check (provider in ('github', 'gitlab', 'oidc')),
  -- exactly as `iss` says it
  issuer text not null,
  -- text by name; the token must say the same
  claims jsonb not null,
  created_by text collate "C" not null references app_user (id),
  created_at timestamptz not null default clock_timestamp()
);

create index trusted_publisher_by_node on trusted_publisher (node_id, created_at);
create index trusted_publisher_by_publisher on trusted_publisher (publisher_id, created_by);

-- step
alter table personal_access_token
  -- publishing includes reading
  add column scope text not null default 'publish' check (scope in ('publish', 'read')),
  -- null: every node of the publisher
  add column node_id text collate "C" references node (id),
  -- the three of a token that a CI job got for its identity token; the trust may be gone meanwhile
  add column trusted_publisher_id uuid,
  add column identity_sha256 text,
  add column provenance jsonb;

-- step alone
-- An identity token is exchanged once.
create unique index concurrently personal_access_token_of_identity on personal_access_token (identity_sha256)
  where identity_sha256 is not null;

-- step alone
create index concurrently personal_access_token_by_trust on personal_access_token (trusted_publisher_id)
  where trusted_publisher_id is not null;

-- step
-- where it was published from, if that was proved
alter table version add column provenance jsonb;
