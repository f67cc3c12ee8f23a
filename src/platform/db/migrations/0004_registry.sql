-- The registry: users, publishers, tokens, nodes, versions, archives, host nodes, search.
-- Ids sort by code point on every server, whatever its locale.

create extension if not exists pg_trgm;

create table app_user (
  -- `sub` of the user's tokens
  id text collate "C" primary key check (length(id) between 1 and 255),
  name text not null,
  email text,
  created_at timestamptz not null default clock_timestamp()
);

create table publisher (
  id text collate "C" primary key,
  name text not null,
  description text,
  logo text,
  source_code_repo text,
  website text,
  support text,
  status text not null default 'PublisherStatusActive'
    check (status in ('PublisherStatusActive', 'PublisherStatusBanned')),
  -- why it is banned; members are told
  status_reason text,
  created_by text collate "C" not null references app_user (id),
  created_at timestamptz not null default clock_timestamp(),
  rev integer not null default 1
);

create index publisher_by_creator on publisher (created_by);

create table publisher_member (
  id uuid primary key default gen_random_uuid(),
  publisher_id text collate "C" not null references publisher (id),
  user_id text collate "C" not null references app_user (id),
  role text not null check (role in ('owner', 'admin', 'member')),
  created_at timestamptz not null default clock_timestamp(),
  unique (publisher_id, user_id)
);

create index publisher_member_by_user on publisher_member (user_id, publisher_id);

create table personal_access_token (
  id uuid primary key default gen_random_uuid(),
  publisher_id text collate "C" not null references publisher (id),
  name text not null,
  description text,
  -- of the token, which is stored nowhere
  sha256 text not null unique,
  last4 text not null,
  created_by text collate "C" not null references app_user (id),
  created_at timestamptz not null default clock_timestamp(),
  expires_at timestamptz,
  last_used_at timestamptz,
  revoked_at timestamptz
);

create index personal_access_token_by_publisher
  on personal_access_token (publisher_id, created_at desc);

-- The words of a text: cut at blanks; at the marks of ids and paths too; at everything but letters and digits; and where
-- the case changes. All in lower case. 200 characters are what a search may be long, and safely under the 2,046 bytes of
-- a lexeme.
create function search_words(given text) returns text[]
language sql immutable parallel safe
return (
  select coalesce(array_agg(left(lower(word), 200)), '{}')
  from unnest(regexp_split_to_array(given, '\s+')) whole,
    -- Most are in lower case and whole, and need not be cut.
    unnest(case when whole ~ '^[[:lower:][:digit:]]*$' then array[whole]
      else whole || regexp_split_to_array(whole, '[-_./]+')
        || regexp_split_to_array(whole, '[^[:alnum:]]+')
        || regexp_split_to_array(
          regexp_replace(
            regexp_replace(whole, '([[:lower:][:digit:]])([[:upper:]])', '\1 \2', 'g'),
            '([[:upper:]])([[:upper:]][[:lower:]])', '\1 \2', 'g'),
          '[^[:alnum:]]+') end) word
  where word <> ''
);

-- A word as tsvector and tsquery read it.
create function quote_lexeme(word text) returns text
language sql immutable parallel safe strict
return '''' || replace(replace(word, '\', '\\'), '''', '''''') || '''';

-- The words of id and name begin with each of `abc`, those of tags and author with `b` and `c`, those of the description
-- with `c`: one index finds all three sorts, and exactly. Of weights it knows nothing, so that each row it gives would
-- have to be looked at again, which took four times as long. The parser of to_tsvector would read addresses, paths and
-- signs of its own into an id, so the vector is written as text.
create function node_words(id text, name text, tags text[], author text, description text)
returns tsvector
language sql immutable parallel safe
return (
  select coalesce(string_agg(quote_lexeme(sort || word), ' '), '')
  from (
    select unnest(search_words(id || ' ' || name)) as word, array['a', 'b', 'c'] as sorts
    union all
    select unnest(search_words(array_to_string(tags || author, ' '))), array['b', 'c']
    union all
    select unnest(search_words(coalesce(description, ''))), array['c']
  ) words, unnest(sorts) sort
)::tsvector;

-- The query of a search term in words of a sort: each of its pieces must start a word. One of marks alone is looked for as
-- it is. Null for a term without any.
create function search_query(term text, sort text) returns tsquery
language sql immutable parallel safe strict
return (
  select string_agg(quote_lexeme(sort || left(piece, 200)) || ':*', ' & ')
  from unnest(regexp_split_to_array(lower(term), '\s+')) whole,
    unnest(case when whole ~ '^[-_./]*$' then array[whole]
      else regexp_split_to_array(whole, '[-_./]+') end) piece
  where piece <> ''
)::tsquery;

-- A repository without what its spellings differ in: case, scheme, user, `.git`, last slash.
create function repository_key(given text) returns text
language sql immutable parallel safe strict
return regexp_replace(
  regexp_replace(lower(given), '^[a-z0-9+.-]+://([^/@]*@)?', ''), '/*(\.git)?/*$', '');

create function lower_all(given text[]) returns text[]
language sql immutable parallel safe strict
return (select coalesce(array_agg(lower(word)), '{}') from unnest(given) word);

-- What searches judge stands first: a row is read column by column up to the last one that is asked for, which for counts
-- of frequent words took half of the time.
create table node (
  -- as it was created
  id text collate "C" primary key,
  status text not null default 'NodeStatusActive'
    check (status in ('NodeStatusActive', 'NodeStatusDeleted', 'NodeStatusBanned')),
  publisher_id text collate "C" not null references publisher (id),
  id_lower text collate "C" not null generated always as (lower(id)) stored unique,
  name_lower text not null generated always as (lower(name)) stored,
  words tsvector generated always as (node_words(id, name, tags, author, description)) stored,
  os_keys text[] generated always as (lower_all(supported_os)) stored,
  accelerator_keys text[] generated always as (lower_all(supported_accelerators)) stored,
  repository_key text generated always as (repository_key(repository)) stored,
  name text not null,
  author text,
  description text,
  banner_url text,
  icon text,
  repository text,
  license text,
  category text,
  translations jsonb,
  tags text[] not null default '{}',
  supported_os text[] not null default '{}',
  supported_accelerators text[] not null default '{}',
  supported_host_version text,
  supported_host_frontend_version text,
  github_stars integer not null default 0 check (github_stars >= 0),
  preempted_host_node_names text[] not null default '{}',
  tags_admin text[] not null default '{}',
  status_detail text,
  -- recomputed in the transaction of each move, deprecation change and delete of a version
  latest_version_id uuid,
  created_at timestamptz not null default clock_timestamp(),
  -- of the node, its listing, or a version of it
  updated_at timestamptz not null default clock_timestamp(),
  -- grows with everything a reader can see, but what publisher and latest version hold, and downloads
  rev integer not null default 1
);

-- Without fastupdate: every search would read the list of pending entries.
create index node_by_publisher on node (publisher_id, id);
create index node_words on node using gin (words) with (fastupdate = off);
create index node_os on node using gin (os_keys) with (fastupdate = off);
create index node_accelerators on node using gin (accelerator_keys) with (fastupdate = off);
create index node_preempted on node using gin (preempted_host_node_names) with (fastupdate = off);
create index node_id_part on node using gin (id_lower gin_trgm_ops) with (fastupdate = off);
create index node_name_part on node using gin (name_lower gin_trgm_ops) with (fastupdate = off);
create index node_repository_part on node
  using gin (lower(repository) gin_trgm_ops) with (fastupdate = off);
create index node_repository_key_part on node
  using gin (repository_key gin_trgm_ops) with (fastupdate = off);
create index node_by_change on node (updated_at, id);

-- What lists are ordered by, apart from the node: a download rewrites no text index, and a walk reads this alone.
create table node_stats (
  node_id text collate "C" primary key references node (id),
  downloads bigint not null default 0 check (downloads >= 0),
  search_ranking integer not null default 5 check (search_ranking between 1 and 10),
  -- the node and its publisher are active; changes only under the lock of the node's row
  listed boolean not null default true,
  created_at timestamptz not null
);

create index node_stats_ranking on node_stats (search_ranking, downloads desc, node_id) where listed;
create index node_stats_created on node_stats (created_at, node_id) where listed;

-- How many nodes and versions are listed, in slots, so that transactions do not queue for one row. `changes` grows with
-- everything that can alter what a filter finds.
create table listed_count (
  kind text not null check (kind in ('node', 'version')),
  slot integer not null,
  n bigint not null default 0,
  changes bigint not null default 0,
  primary key (kind, slot)
) with (fillfactor = 10);

insert into listed_count (kind, slot)
select kind, slot from unnest(array['node', 'version']) kind, generate_series(0, 15) slot;

create table version (
  id uuid primary key,
  node_id text collate "C" not null references node (id),
  -- as it was published
  version text not null,
  -- without build metadata
  canonical text collate "C" not null,
  major bigint not null,
  minor bigint not null,
  patch bigint not null,
  -- `~` for a release
  pre_key text collate "C" not null,
  changelog text,
  dependencies text[] not null default '{}',
  deprecated boolean not null default false,
  tags text[] not null default '{}',
  tags_admin text[] not null default '{}',
  supported_os text[] not null default '{}',
  supported_accelerators text[] not null default '{}',
  supported_host_version text,
  supported_host_frontend_version text,
  status text not null default 'NodeVersionStatusPending' check (status in (
    'NodeVersionStatusActive', 'NodeVersionStatusDeleted', 'NodeVersionStatusBanned',
    'NodeVersionStatusPending', 'NodeVersionStatusFlagged')),
  status_reason text not null,
  -- it was flagged because its archive could not be read to the end
  scan_incomplete boolean not null default false,
  -- the checks gave up; an operator may retry, and reconcile leaves it alone
  checks_failed_at timestamptz,
  host_node_extract_status text not null default 'pending'
    check (host_node_extract_status in ('pending', 'success', 'failed')),
  extract_reason text,
  -- where the extract status comes from: the archive, or a registration without or with the extraction token
  extract_source text check (extract_source in ('derived', 'reported', 'trusted')),
  archive_state text not null default 'awaiting'
    check (archive_state in ('awaiting', 'received', 'accepted', 'rejected', 'expired')),
  upload_expires_at timestamptz not null,
  upload_started_at timestamptz,
  published_by text collate "C" not null,
  token_id uuid references personal_access_token (id),
  created_at timestamptz not null default clock_timestamp(),
  last_moved_at timestamptz not null default clock_timestamp(),
  rev integer not null default 1,
  check (status <> 'NodeVersionStatusActive' or archive_state = 'accepted'),
  check (archive_state <> 'expired' or status = 'NodeVersionStatusDeleted')
);

alter table node add foreign key (latest_version_id) references version (id);

create unique index version_canonical on version (node_id, canonical) where archive_state <> 'expired';
create index version_latest on version
  (node_id, deprecated, (pre_key <> '~'), major desc, minor desc, patch desc, pre_key desc)
  where status = 'NodeVersionStatusActive';
create index version_newest on version (created_at desc, id);
create index version_by_status on version (status, created_at desc, id);
create index version_by_node on version (node_id, created_at desc, id);
create index version_reason_part on version
  using gin (lower(status_reason) gin_trgm_ops) with (fastupdate = off);
create index version_pending on version (last_moved_at)
  where status = 'NodeVersionStatusPending' and checks_failed_at is null;

create table version_move (
  id bigint generated always as identity primary key,
  version_id uuid not null references version (id),
  at timestamptz not null,
  -- null: it was published
  from_status text,
  to_status text not null,
  reason text not null,
  -- `user:<id>`, `workflow` or `operator`
  actor text not null
);

create index version_move_by_version on version_move (version_id, at, id);

-- The bytes of a version: digest, size and place of one upload, never of two.
create table archive (
  version_id uuid primary key references version (id),
  storage_key text not null,
  sha256 text not null,
  bytes bigint not null check (bytes > 0),
  received_at timestamptz not null default clock_timestamp(),
  -- why it was rejected
  code text
);

create table review_request (
  id uuid primary key default gen_random_uuid(),
  version_id uuid not null references version (id),
  note text not null default '',
  requested_by text collate "C" not null,
  created_at timestamptz not null default clock_timestamp(),
  closed_at timestamptz
);

create unique index review_request_open on review_request (version_id) where closed_at is null;
create index review_request_by_version on review_request (version_id, created_at desc);

create table host_node (
  version_id uuid not null references version (id),
  host_node_name text collate "C" not null,
  category text,
  description text,
  function text,
  deprecated boolean not null default false,
  experimental boolean not null default false,
  -- JSON text, as it was given
  input_types text,
  return_types text,
  return_names text,
  output_is_list boolean[] not null default '{}',
  primary key (version_id, host_node_name)
);

-- Apart from the host nodes, which are replaced as a whole: a policy stays with its name.
create table host_node_policy (
  version_id uuid not null references version (id),
  host_node_name text collate "C" not null,
  policy text not null
    check (policy in ('HostNodePolicyActive', 'HostNodePolicyBanned', 'HostNodePolicyLocalOnly')),
  primary key (version_id, host_node_name)
);

create table host_node_report (
  id bigint generated always as identity primary key,
  version_id uuid not null references version (id),
  at timestamptz not null default clock_timestamp(),
  success boolean not null,
  reason text,
  build_info jsonb,
  -- it came with the extraction token
  trusted boolean not null
);

create index host_node_report_by_version on host_node_report (version_id, at desc);

-- Names of the host nodes of each node's latest version; rewritten when that changes, or they do.
create table current_host_node (
  node_id text collate "C" not null references node (id),
  name text collate "C" not null,
  primary key (node_id, name)
);

create index current_host_node_by_name on current_host_node (name, node_id);
create index current_host_node_part on current_host_node
  using gin (lower(name) gin_trgm_ops) with (fastupdate = off);

create table download_day (
  version_id uuid not null references version (id),
  day date not null,
  n bigint not null,
  primary key (version_id, day)
);

create table audit_log (
  id uuid primary key default gen_random_uuid(),
  at timestamptz not null default clock_timestamp(),
  actor text not null,
  action text not null,
  -- `publisher/<id>`, `node/<id>` or `version/<node id>@<version>`
  target text not null,
  before jsonb not null,
  after jsonb not null,
  reason text,
  request_id text not null
);

create index audit_log_newest on audit_log (at desc, id);
create index audit_log_by_actor on audit_log (actor, at desc);
create index audit_log_by_target on audit_log (target, at desc);
