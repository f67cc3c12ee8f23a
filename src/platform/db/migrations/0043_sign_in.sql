-- Accounts of Kiln's own (AUTH=builtin), and what its OpenID provider keeps.

create table sign_in_account (
  -- `sub` of its tokens, which never changes
  id text primary key,
  -- in lower case
  email text not null unique,
  is_admin boolean not null default false,
  -- scrypt with its costs and salt; null: none yet
  password text,
  created_at timestamptz not null default clock_timestamp(),
  disabled_at timestamptz
);

-- Values that count once: links to set a password, and challenges of passkeys.
create table sign_in_once (
  -- SHA-256 of the value
  sha256 text primary key,
  kind text not null,
  account_id text references sign_in_account,
  expires_at timestamptz not null
);
create index sign_in_once_account on sign_in_once (account_id);
create index sign_in_once_expiry on sign_in_once (expires_at);

create table sign_in_passkey (
  -- id of the credential, in base64url
  id text primary key,
  account_id text not null references sign_in_account,
  -- COSE, in base64url
  public_key text not null,
  counter bigint not null,
  transports text[] not null,
  created_at timestamptz not null default clock_timestamp(),
  used_at timestamptz
);
create index sign_in_passkey_account on sign_in_passkey (account_id);

-- Sessions, codes, tokens and grants of the provider.
create table sign_in_record (
  model text not null,
  -- SHA-256 of the id, which is the token itself
  id text not null,
  -- encrypted by SECRETS_KEYS
  payload text not null,
  account_id text,
  -- SHA-256 each
  grant_id text,
  uid text,
  -- browser of a session
  user_agent text,
  created_at timestamptz not null default clock_timestamp(),
  consumed_at timestamptz,
  expires_at timestamptz not null,
  primary key (model, id)
);
create index sign_in_record_account on sign_in_record (account_id);
create index sign_in_record_grant on sign_in_record (grant_id);
create index sign_in_record_uid on sign_in_record (uid);
create index sign_in_record_expiry on sign_in_record (expires_at);

-- Keys that sign tokens: one of each period of 30 days.
create table sign_in_key (
  period bigint primary key,
  -- JWK, encrypted by SECRETS_KEYS
  private_key text not null,
  created_at timestamptz not null default clock_timestamp()
);

-- Failed passwords of an account from one address, of an account, and of an account from a known browser.
create table sign_in_failure (
  -- SHA-256 of which of them
  key text primary key,
  failures integer not null,
  wait_until timestamptz not null,
  at timestamptz not null default clock_timestamp()
);
create index sign_in_failure_age on sign_in_failure (at);

-- Subjects of an external issuer who are users that were there before it.
create table subject_link (
  subject text primary key,
  user_id text not null,
  created_at timestamptz not null default clock_timestamp()
);

-- step alone
create index concurrently personal_access_token_by_creator on personal_access_token (created_by);
