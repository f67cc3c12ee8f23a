-- The schema as all migrations leave it (`npm run docs`). It is for reading: migrations make it.

create table api_key (
  id uuid default gen_random_uuid() not null,
  owner text not null,
  name text not null,
  sha256 text not null,
  last4 text not null,
  created_at timestamp with time zone default clock_timestamp() not null,
  expires_at timestamp with time zone,
  last_used_at timestamp with time zone,
  revoked_at timestamp with time zone,
  scopes text[],
  credit_cap bigint,
  credits_used bigint default 0 not null,
  warned_at timestamp with time zone,
  constraint api_key_pkey PRIMARY KEY (id),
  constraint api_key_sha256_key UNIQUE (sha256),
  constraint api_key_credit_cap_check CHECK (credit_cap >= 0),
  constraint api_key_credits_used_check CHECK (credits_used >= 0)
);
CREATE INDEX api_key_by_owner ON public.api_key USING btree (owner, created_at DESC);
CREATE INDEX api_key_unwarned ON public.api_key USING btree (expires_at) WHERE ((warned_at IS NULL) AND (revoked_at IS NULL) AND (expires_at IS NOT NULL));

create table app_user (
  id text not null,
  name text not null,
  email text,
  created_at timestamp with time zone default clock_timestamp() not null,
  constraint app_user_pkey PRIMARY KEY (id),
  constraint app_user_id_check CHECK (length(id) >= 1 AND length(id) <= 255)
);

create table archive (
  version_id uuid not null,
  storage_key text not null,
  sha256 text not null,
  bytes bigint not null,
  received_at timestamp with time zone default clock_timestamp() not null,
  code text,
  entries integer,
  files json,
  content text,
  constraint archive_pkey PRIMARY KEY (version_id),
  constraint archive_version_id_fkey FOREIGN KEY (version_id) REFERENCES version(id),
  constraint archive_bytes_check CHECK (bytes > 0)
);
CREATE INDEX archive_by_code ON public.archive USING gin (code_keys(files));
CREATE INDEX archive_by_content ON public.archive USING btree (content) WHERE (content IS NOT NULL);
CREATE TRIGGER archive_content BEFORE INSERT OR UPDATE OF files ON archive FOR EACH ROW EXECUTE FUNCTION set_content();
CREATE TRIGGER archive_content_known AFTER UPDATE ON archive FOR EACH ROW WHEN (new.content IS NOT NULL AND new.content IS DISTINCT FROM old.content) EXECUTE FUNCTION record_late_content();

create table attempt (
  event_id uuid not null,
  number integer not null,
  redelivery_id uuid,
  url text not null,
  address text,
  started_at timestamp with time zone default clock_timestamp() not null,
  duration_ms integer,
  status integer,
  error_class text,
  answer text,
  next_due_at timestamp with time zone,
  error_detail text,
  hastened boolean default false not null,
  header_names text[],
  constraint attempt_pkey PRIMARY KEY (event_id, number),
  constraint attempt_event_id_fkey FOREIGN KEY (event_id) REFERENCES event(id) ON DELETE CASCADE,
  constraint attempt_redelivery_id_fkey FOREIGN KEY (redelivery_id) REFERENCES redelivery(id) ON DELETE CASCADE,
  constraint attempt_number_check CHECK (number >= 1)
);
CREATE INDEX attempt_by_age ON public.attempt USING btree (started_at);

create table audit_log (
  id uuid default gen_random_uuid() not null,
  at timestamp with time zone default clock_timestamp() not null,
  actor text not null,
  action text not null,
  target text not null,
  before jsonb not null,
  after jsonb not null,
  reason text,
  request_id text not null,
  address text,
  credential text,
  constraint audit_log_pkey PRIMARY KEY (id)
);
CREATE INDEX audit_log_by_action ON public.audit_log USING btree (action, at DESC);
CREATE INDEX audit_log_by_actor ON public.audit_log USING btree (actor, at DESC);
CREATE INDEX audit_log_by_address ON public.audit_log USING btree (address, at DESC) WHERE (address IS NOT NULL);
CREATE INDEX audit_log_by_target ON public.audit_log USING btree (target, at DESC);
CREATE INDEX audit_log_newest ON public.audit_log USING btree (at DESC, id);

create table banned_content (
  content text not null,
  version_id uuid not null,
  constraint banned_content_pkey PRIMARY KEY (content, version_id),
  constraint banned_content_version_id_fkey FOREIGN KEY (version_id) REFERENCES version(id)
);

create table banned_file (
  sha256 text not null,
  version_id uuid not null,
  constraint banned_file_pkey PRIMARY KEY (sha256, version_id),
  constraint banned_file_version_id_fkey FOREIGN KEY (version_id) REFERENCES version(id)
);
CREATE INDEX banned_file_by_version ON public.banned_file USING btree (version_id);

create table breaker (
  scope text not null,
  failures integer default 0 not null,
  opened_at timestamp with time zone,
  retry_at timestamp with time zone,
  probe_id uuid,
  constraint breaker_pkey PRIMARY KEY (scope)
);
CREATE TRIGGER breaker_inserted_platform_event AFTER INSERT ON breaker FOR EACH ROW WHEN (new.opened_at IS NOT NULL) EXECUTE FUNCTION record_platform_event_of();
CREATE TRIGGER breaker_platform_event AFTER UPDATE ON breaker FOR EACH ROW WHEN ((old.opened_at IS NULL) <> (new.opened_at IS NULL)) EXECUTE FUNCTION record_platform_event_of();

create table built_in_host_node (
  name text not null,
  constraint built_in_host_node_pkey PRIMARY KEY (name)
);

create table bulk (
  id uuid not null,
  kind text not null,
  owner text not null,
  state text default 'preparing'::text not null,
  request jsonb not null,
  webhook_url text,
  total integer default 0 not null,
  next_index integer default 0 not null,
  next_offset bigint default 0 not null,
  cursor text,
  error jsonb,
  cancel_requested_at timestamp with time zone,
  counts jsonb,
  created_at timestamp with time zone default clock_timestamp() not null,
  changed_at timestamp with time zone default clock_timestamp() not null,
  ended_at timestamp with time zone,
  api_key_id uuid,
  watched_task uuid,
  constraint bulk_pkey PRIMARY KEY (id),
  constraint bulk_kind_check CHECK (kind = ANY (ARRAY['batch'::text, 'operation'::text])),
  constraint bulk_state_check CHECK (state = ANY (ARRAY['preparing'::text, 'running'::text, 'done'::text, 'cancelled'::text, 'failed'::text]))
);
CREATE INDEX bulk_by_end ON public.bulk USING btree (ended_at);
CREATE INDEX bulk_by_owner ON public.bulk USING btree (owner, kind, created_at DESC, id DESC);
CREATE INDEX bulk_open ON public.bulk USING btree (id) WHERE (ended_at IS NULL);
CREATE INDEX bulk_open_by_owner ON public.bulk USING btree (owner) WHERE (ended_at IS NULL);
CREATE INDEX bulk_watched ON public.bulk USING btree (watched_task) WHERE (watched_task IS NOT NULL);

create table bulk_item (
  bulk_id uuid not null,
  index integer not null,
  task_id uuid,
  outcome text,
  result jsonb,
  error jsonb,
  custom_id text,
  constraint bulk_item_pkey PRIMARY KEY (bulk_id, index),
  constraint bulk_item_bulk_id_fkey FOREIGN KEY (bulk_id) REFERENCES bulk(id) ON DELETE CASCADE,
  constraint bulk_item_outcome_check CHECK (outcome = ANY (ARRAY['done'::text, 'rejected'::text]))
);

create table creation (
  id uuid default gen_random_uuid() not null,
  task_id uuid not null,
  seconds double precision not null,
  fps integer not null,
  width integer not null,
  height integer not null,
  name text default 'video.mp4'::text not null,
  constraint creation_pkey PRIMARY KEY (id),
  constraint creation_task_id_fkey FOREIGN KEY (task_id) REFERENCES task(id) ON DELETE CASCADE,
  constraint creation_seconds_check CHECK (seconds > 0::double precision)
);
CREATE UNIQUE INDEX creation_of_task ON public.creation USING btree (task_id, name);

create table current_host_node (
  node_id text not null,
  name text not null,
  display_name text,
  constraint current_host_node_pkey PRIMARY KEY (node_id, name),
  constraint current_host_node_node_id_fkey FOREIGN KEY (node_id) REFERENCES node(id)
);
CREATE INDEX current_host_node_by_name ON public.current_host_node USING btree (name, node_id);
CREATE TRIGGER current_host_node_deleted AFTER DELETE ON current_host_node REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION settle_host_names();
CREATE TRIGGER current_host_node_inserted AFTER INSERT ON current_host_node REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION settle_host_names();
CREATE TRIGGER current_host_node_named BEFORE INSERT ON current_host_node FOR EACH ROW WHEN (new.display_name IS NULL) EXECUTE FUNCTION set_display_name();
CREATE TRIGGER current_host_node_updated AFTER UPDATE ON current_host_node REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION settle_host_names();

create table download_day (
  version_id uuid not null,
  day date not null,
  n bigint not null,
  constraint download_day_pkey PRIMARY KEY (version_id, day),
  constraint download_day_version_id_fkey FOREIGN KEY (version_id) REFERENCES version(id)
);

create table endpoint (
  id uuid default gen_random_uuid() not null,
  publisher_id text,
  owner text,
  url text not null,
  events text[] not null,
  status text default 'enabled'::text not null,
  disabled_reason text,
  disabled_at timestamp with time zone,
  failing_since timestamp with time zone,
  created_at timestamp with time zone default clock_timestamp() not null,
  created_by text,
  format text default 'json'::text not null,
  headers text,
  header_names text[] default '{}'::text[] not null,
  labels text[] default '{}'::text[] not null,
  kinds text[] default '{}'::text[] not null,
  constraint endpoint_pkey PRIMARY KEY (id),
  constraint endpoint_publisher_id_fkey FOREIGN KEY (publisher_id) REFERENCES publisher(id),
  constraint endpoint_check CHECK ((publisher_id IS NULL) <> (owner IS NULL)),
  constraint endpoint_disabled_reason_check CHECK (disabled_reason = ANY (ARRAY['requested'::text, 'gone'::text, 'failing'::text, 'member_removed'::text])),
  constraint endpoint_format_check CHECK (format = ANY (ARRAY['json'::text, 'slack'::text])),
  constraint endpoint_status_check CHECK (status = ANY (ARRAY['enabled'::text, 'disabled'::text, 'deleted'::text]))
);
CREATE INDEX endpoint_by_owner ON public.endpoint USING btree (owner) WHERE (status <> 'deleted'::text);
CREATE INDEX endpoint_by_publisher ON public.endpoint USING btree (publisher_id) WHERE (status <> 'deleted'::text);
CREATE INDEX endpoint_deleted ON public.endpoint USING btree (id) WHERE (status = 'deleted'::text);

create table event (
  id uuid default gen_random_uuid() not null,
  task_id uuid not null,
  sequence integer not null,
  status text not null,
  deliver boolean not null,
  created_at timestamp with time zone default clock_timestamp() not null,
  state text default 'unsent'::text not null,
  failures integer default 0 not null,
  next_attempt_at timestamp with time zone,
  endpoint_id uuid,
  subject_id uuid,
  data jsonb,
  failed_host text,
  scheduled_at timestamp with time zone,
  hasten_after timestamp with time zone,
  hastened smallint default 0 not null,
  constraint event_pkey PRIMARY KEY (id),
  constraint event_task_id_sequence_key UNIQUE (task_id, sequence),
  constraint event_endpoint_id_fkey FOREIGN KEY (endpoint_id) REFERENCES endpoint(id) ON DELETE CASCADE,
  constraint event_sequence_check CHECK (sequence >= 1),
  constraint event_state_check CHECK (state = ANY (ARRAY['pending'::text, 'delivered'::text, 'superseded'::text, 'exhausted'::text, 'stopped'::text, 'unsent'::text]))
);
CREATE INDEX event_by_endpoint ON public.event USING btree (endpoint_id, created_at DESC, id DESC) WHERE (endpoint_id IS NOT NULL);
CREATE INDEX event_exhausted_by_task ON public.event USING btree (task_id, created_at) WHERE (state = 'exhausted'::text);
CREATE INDEX event_failed_at_host ON public.event USING btree (failed_host, hasten_after) WHERE (state = 'pending'::text);
CREATE INDEX event_of_endpoint_by_age ON public.event USING btree (created_at) WHERE (endpoint_id IS NOT NULL);
CREATE INDEX event_pending ON public.event USING btree (task_id, sequence) WHERE (state = 'pending'::text);
CREATE TRIGGER event_enters_first_attempt AFTER INSERT ON event FOR EACH ROW WHEN (new.state = 'pending'::text AND new.failures = 0) EXECUTE FUNCTION queue_first_attempt();
CREATE TRIGGER event_leaves_first_attempt AFTER UPDATE OF state, failures ON event FOR EACH ROW WHEN (old.state = 'pending'::text AND (new.state <> 'pending'::text OR old.failures = 0 AND new.failures > 0)) EXECUTE FUNCTION leave_first_attempt();

create table extraction (
  version_id uuid not null,
  sha256 text not null,
  extractor_version integer not null,
  status text not null,
  reason text,
  how text not null,
  partial boolean not null,
  reasons text[] not null,
  dropped integer not null,
  node_count integer not null,
  nodes json,
  stats json not null,
  outcome text,
  gained text[] default '{}'::text[] not null,
  lost text[] default '{}'::text[] not null,
  read_at timestamp with time zone default clock_timestamp() not null,
  examples jsonb,
  workflow_names jsonb,
  constraint extraction_pkey PRIMARY KEY (version_id, sha256, extractor_version),
  constraint extraction_version_id_fkey FOREIGN KEY (version_id) REFERENCES version(id),
  constraint extraction_how_check CHECK (how = ANY (ARRAY['v1'::text, 'v3'::text, 'node_list'::text, 'literal_scan'::text, 'none'::text])),
  constraint extraction_outcome_check CHECK (outcome = ANY (ARRAY['replaced'::text, 'kept'::text])),
  constraint extraction_status_check CHECK (status = ANY (ARRAY['success'::text, 'failed'::text]))
);

create table finding (
  id uuid default gen_random_uuid() not null,
  version_id uuid not null,
  scanner text not null,
  "position" integer not null,
  issue_type text not null,
  severity text not null,
  file_path text,
  line_number integer,
  code_snippet text,
  message text not null,
  other_version_id uuid,
  constraint finding_pkey PRIMARY KEY (id),
  constraint finding_version_id_scanner_position_key UNIQUE (version_id, scanner, "position"),
  constraint finding_other_version_id_fkey FOREIGN KEY (other_version_id) REFERENCES version(id),
  constraint finding_version_id_fkey FOREIGN KEY (version_id) REFERENCES version(id),
  constraint finding_severity_check CHECK (severity = ANY (ARRAY['high'::text, 'medium'::text, 'info'::text]))
);

create table first_attempt (
  event_id uuid not null,
  task_id uuid not null,
  sequence integer not null,
  account text not null,
  host text not null,
  due_at timestamp with time zone default clock_timestamp() not null,
  constraint first_attempt_pkey PRIMARY KEY (event_id),
  constraint first_attempt_event_id_fkey FOREIGN KEY (event_id) REFERENCES event(id) ON DELETE CASCADE
) with (autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=2000);
CREATE INDEX first_attempt_by_account ON public.first_attempt USING btree (account, due_at);
CREATE INDEX first_attempt_by_host ON public.first_attempt USING btree (host, due_at);
CREATE INDEX first_attempt_by_task ON public.first_attempt USING btree (task_id, sequence);

create table host_node (
  version_id uuid not null,
  host_node_name text not null,
  category text,
  description text,
  function text,
  deprecated boolean default false not null,
  experimental boolean default false not null,
  input_types text,
  return_types text,
  return_names text,
  output_is_list boolean[] default '{}'::boolean[] not null,
  dynamic text[] default '{}'::text[] not null,
  display_name text,
  output_node boolean,
  constraint host_node_pkey PRIMARY KEY (version_id, host_node_name),
  constraint host_node_version_id_fkey FOREIGN KEY (version_id) REFERENCES version(id)
);
CREATE INDEX host_node_by_name ON public.host_node USING btree (host_node_name, version_id);

create table host_node_policy (
  version_id uuid not null,
  host_node_name text not null,
  policy text not null,
  constraint host_node_policy_pkey PRIMARY KEY (version_id, host_node_name),
  constraint host_node_policy_version_id_fkey FOREIGN KEY (version_id) REFERENCES version(id),
  constraint host_node_policy_policy_check CHECK (policy = ANY (ARRAY['HostNodePolicyActive'::text, 'HostNodePolicyBanned'::text, 'HostNodePolicyLocalOnly'::text]))
);
CREATE TRIGGER host_node_policy_kept AFTER INSERT OR UPDATE ON host_node_policy FOR EACH ROW EXECUTE FUNCTION keep_host_node_policy();

create table host_node_report (
  id bigint generated always as identity not null,
  version_id uuid not null,
  at timestamp with time zone default clock_timestamp() not null,
  success boolean not null,
  reason text,
  build_info jsonb,
  trusted boolean not null,
  reported_by text,
  constraint host_node_report_pkey PRIMARY KEY (id),
  constraint host_node_report_version_id_fkey FOREIGN KEY (version_id) REFERENCES version(id)
);
CREATE INDEX host_node_report_by_version ON public.host_node_report USING btree (version_id, at DESC);

create table idempotency (
  principal text not null,
  method text not null,
  path text not null,
  key text not null,
  claim uuid not null,
  lease_until timestamp with time zone not null,
  created_at timestamp with time zone default clock_timestamp() not null,
  fingerprint text,
  status integer,
  headers jsonb,
  body text,
  encrypted boolean default false not null,
  constraint idempotency_pkey PRIMARY KEY (principal, method, path, key)
);
CREATE INDEX idempotency_by_age ON public.idempotency USING btree (created_at);

create table instance (
  name text not null,
  state text default 'doubtful'::text not null,
  state_at timestamp with time zone default clock_timestamp() not null,
  marker uuid,
  quarantined_at timestamp with time zone,
  rests_until timestamp with time zone,
  drained_at timestamp with time zone,
  reason text,
  template text,
  version text,
  abilities jsonb,
  seen_at timestamp with time zone default now() not null,
  url text,
  broken_by uuid,
  engine text,
  silence text,
  model_files text[],
  constraint instance_pkey PRIMARY KEY (name)
);
CREATE INDEX instance_seen ON public.instance USING btree (seen_at);

create table ledger (
  task_id uuid not null,
  kind text not null,
  owner text not null,
  credits integer not null,
  created_at timestamp with time zone default clock_timestamp() not null,
  api_key_id uuid,
  constraint ledger_pkey PRIMARY KEY (task_id, kind),
  constraint ledger_owner_fkey FOREIGN KEY (owner) REFERENCES owner(id),
  constraint ledger_task_id_fkey FOREIGN KEY (task_id) REFERENCES task(id),
  constraint ledger_credits_check CHECK (credits >= 0),
  constraint ledger_kind_check CHECK (kind = ANY (ARRAY['charge'::text, 'refund'::text]))
);

create table listed_count (
  kind text not null,
  slot integer not null,
  n bigint default 0 not null,
  changes bigint default 0 not null,
  constraint listed_count_pkey PRIMARY KEY (kind, slot),
  constraint listed_count_kind_check CHECK (kind = ANY (ARRAY['node'::text, 'version'::text]))
) with (fillfactor=10);

create table migration (
  name text not null,
  checksum text not null,
  applied_at timestamp with time zone default clock_timestamp() not null,
  constraint migration_pkey PRIMARY KEY (name)
);

create table node (
  id text not null,
  status text default 'NodeStatusActive'::text not null,
  publisher_id text not null,
  id_lower text generated always as (lower(id)) stored not null,
  name_lower text generated always as (lower(name)) stored not null,
  words tsvector,
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
  tags text[] default '{}'::text[] not null,
  supported_os text[] default '{}'::text[] not null,
  supported_accelerators text[] default '{}'::text[] not null,
  supported_host_version text,
  supported_host_frontend_version text,
  github_stars integer default 0 not null,
  preempted_host_node_names text[] default '{}'::text[] not null,
  tags_admin text[] default '{}'::text[] not null,
  status_detail text,
  latest_version_id uuid,
  created_at timestamp with time zone default clock_timestamp() not null,
  updated_at timestamp with time zone default clock_timestamp() not null,
  rev integer default 1 not null,
  stars_by_admin integer,
  stars_updated_at timestamp with time zone,
  icon_picture uuid,
  banner_picture uuid,
  license_id text,
  constraint node_pkey PRIMARY KEY (id),
  constraint node_id_lower_key UNIQUE (id_lower),
  constraint node_latest_version_id_fkey FOREIGN KEY (latest_version_id) REFERENCES version(id),
  constraint node_publisher_id_fkey FOREIGN KEY (publisher_id) REFERENCES publisher(id),
  constraint node_github_stars_check CHECK (github_stars >= 0),
  constraint node_status_check CHECK (status = ANY (ARRAY['NodeStatusActive'::text, 'NodeStatusDeleted'::text, 'NodeStatusBanned'::text]))
);
CREATE INDEX node_accelerators ON public.node USING gin (accelerator_keys) WITH (fastupdate=off);
CREATE INDEX node_banned ON public.node USING btree (id) WHERE (status = 'NodeStatusBanned'::text);
CREATE INDEX node_banner_picture ON public.node USING btree (banner_picture) WHERE (banner_picture IS NOT NULL);
CREATE INDEX node_by_change ON public.node USING btree (updated_at, id);
CREATE INDEX node_by_name ON public.node USING btree (name_lower, id);
CREATE INDEX node_by_plain_id ON public.node USING btree (regexp_replace(id_lower, '[-_.]+'::text, '-'::text, 'g'::text));
CREATE INDEX node_by_publisher ON public.node USING btree (publisher_id, id);
CREATE INDEX node_by_stars ON public.node USING btree (github_stars, id);
CREATE INDEX node_icon_picture ON public.node USING btree (icon_picture) WHERE (icon_picture IS NOT NULL);
CREATE INDEX node_id_part ON public.node USING gin (id_lower gin_trgm_ops) WITH (fastupdate=off);
CREATE INDEX node_license ON public.node USING btree (lower(license_id)) WHERE (license_id IS NOT NULL);
CREATE INDEX node_name_part ON public.node USING gin (name_lower gin_trgm_ops) WITH (fastupdate=off);
CREATE INDEX node_os ON public.node USING gin (os_keys) WITH (fastupdate=off);
CREATE INDEX node_platform_accelerators ON public.node USING gin (platform_keys(supported_accelerators)) WITH (fastupdate=off);
CREATE INDEX node_platform_os ON public.node USING gin (platform_keys(supported_os)) WITH (fastupdate=off);
CREATE INDEX node_preempted ON public.node USING gin (preempted_host_node_names) WITH (fastupdate=off);
CREATE INDEX node_repository_key_part ON public.node USING gin (repository_key gin_trgm_ops) WITH (fastupdate=off);
CREATE INDEX node_repository_part ON public.node USING gin (lower(repository) gin_trgm_ops) WITH (fastupdate=off);
CREATE INDEX node_supported_host_version ON public.node USING btree (supported_host_version) WHERE (supported_host_version IS NOT NULL);
CREATE INDEX node_tags ON public.node USING gin (lower_all(tags)) WITH (fastupdate=off);
CREATE INDEX node_words ON public.node USING gin (words) WITH (fastupdate=off);
CREATE TRIGGER node_license_set BEFORE UPDATE ON node FOR EACH ROW WHEN (old.latest_version_id IS DISTINCT FROM new.latest_version_id) EXECUTE FUNCTION record_latest_license();
CREATE TRIGGER node_text_changed AFTER UPDATE ON node FOR EACH ROW WHEN (old.name_lower IS DISTINCT FROM new.name_lower OR old.words IS DISTINCT FROM new.words) EXECUTE FUNCTION record_node_text();
CREATE TRIGGER node_words_set BEFORE INSERT OR UPDATE OF name, author, description, tags, translations, publisher_id, words ON node FOR EACH ROW EXECUTE FUNCTION set_node_words();

create table node_change (
  id bigint generated always as identity not null,
  xid xid8 default pg_current_xact_id() not null,
  at timestamp with time zone default clock_timestamp() not null,
  node_id text not null,
  listed boolean not null,
  id_lower text,
  name_lower text,
  words tsvector,
  constraint node_change_pkey PRIMARY KEY (id)
);
CREATE INDEX node_change_by_time ON public.node_change USING btree (at);
CREATE INDEX node_change_by_xid ON public.node_change USING btree (xid);

create table node_host_names (
  node_id text not null,
  names text not null,
  words tsvector,
  constraint node_host_names_pkey PRIMARY KEY (node_id),
  constraint node_host_names_node_id_fkey FOREIGN KEY (node_id) REFERENCES node(id)
);
CREATE INDEX node_host_names_part ON public.node_host_names USING gin (names gin_trgm_ops) WITH (fastupdate=off);

create table node_host_policy (
  node_id text not null,
  host_node_name text not null,
  policy text not null,
  reason text,
  previous_policy text default 'HostNodePolicyActive'::text not null,
  changed_at timestamp with time zone default clock_timestamp() not null,
  constraint node_host_policy_pkey PRIMARY KEY (node_id, host_node_name),
  constraint node_host_policy_node_id_fkey FOREIGN KEY (node_id) REFERENCES node(id),
  constraint node_host_policy_policy_check CHECK (policy = ANY (ARRAY['HostNodePolicyActive'::text, 'HostNodePolicyBanned'::text, 'HostNodePolicyLocalOnly'::text]))
);
CREATE INDEX node_host_policy_banned ON public.node_host_policy USING btree (host_node_name) WHERE (policy = 'HostNodePolicyBanned'::text);

create table node_report (
  id uuid default gen_random_uuid() not null,
  node_id text not null,
  reported_by text not null,
  reason text not null,
  text text not null,
  created_at timestamp with time zone default clock_timestamp() not null,
  closed_at timestamp with time zone,
  decided_by text,
  decision text,
  constraint node_report_pkey PRIMARY KEY (id),
  constraint node_report_node_id_fkey FOREIGN KEY (node_id) REFERENCES node(id),
  constraint node_report_reported_by_fkey FOREIGN KEY (reported_by) REFERENCES app_user(id),
  constraint node_report_reason_check CHECK (reason = ANY (ARRAY['malware'::text, 'spam'::text, 'name'::text, 'licence'::text, 'broken'::text, 'other'::text]))
);
CREATE INDEX node_report_by_node ON public.node_report USING btree (node_id, created_at);
CREATE UNIQUE INDEX node_report_open ON public.node_report USING btree (node_id, reported_by) WHERE (closed_at IS NULL);
CREATE INDEX node_report_queue ON public.node_report USING btree (created_at, id) WHERE (closed_at IS NULL);
CREATE TRIGGER report_platform_event AFTER INSERT ON node_report FOR EACH ROW EXECUTE FUNCTION record_platform_event_of();

create table node_stats (
  node_id text not null,
  downloads bigint default 0 not null,
  search_ranking integer default 5 not null,
  listed boolean default true not null,
  created_at timestamp with time zone not null,
  rating_sum bigint default 0 not null,
  rating_count integer default 0 not null,
  rating_weight double precision default 0 not null,
  constraint node_stats_pkey PRIMARY KEY (node_id),
  constraint node_stats_node_id_fkey FOREIGN KEY (node_id) REFERENCES node(id),
  constraint node_stats_downloads_check CHECK (downloads >= 0),
  constraint node_stats_search_ranking_check CHECK (search_ranking >= 1 AND search_ranking <= 10)
);
CREATE INDEX node_stats_created ON public.node_stats USING btree (created_at, node_id) WHERE listed;
CREATE INDEX node_stats_downloads ON public.node_stats USING btree (downloads, node_id) WHERE listed;
CREATE INDEX node_stats_ranking ON public.node_stats USING btree (search_ranking, downloads DESC, node_id) WHERE listed;
CREATE INDEX node_stats_rated ON public.node_stats USING btree (node_id) WHERE (rating_count > 0);
CREATE INDEX node_stats_rating ON public.node_stats USING btree (rating_weight, node_id) WHERE listed;
CREATE INDEX node_stats_unlisted ON public.node_stats USING btree (node_id) WHERE (NOT listed);
CREATE TRIGGER node_stats_inserted AFTER INSERT ON node_stats FOR EACH ROW EXECUTE FUNCTION record_node_listing();
CREATE TRIGGER node_stats_listed AFTER UPDATE ON node_stats FOR EACH ROW WHEN (old.listed <> new.listed) EXECUTE FUNCTION record_node_listing();

create table node_transfer (
  id uuid default gen_random_uuid() not null,
  node_id text not null,
  from_publisher text not null,
  to_publisher text not null,
  asked_by text not null,
  asked_at timestamp with time zone default clock_timestamp() not null,
  expires_at timestamp with time zone not null,
  ended_at timestamp with time zone,
  ended_by text,
  accepted boolean,
  constraint node_transfer_pkey PRIMARY KEY (id),
  constraint node_transfer_from_publisher_fkey FOREIGN KEY (from_publisher) REFERENCES publisher(id),
  constraint node_transfer_node_id_fkey FOREIGN KEY (node_id) REFERENCES node(id),
  constraint node_transfer_to_publisher_fkey FOREIGN KEY (to_publisher) REFERENCES publisher(id)
);
CREATE INDEX node_transfer_accepted ON public.node_transfer USING btree (node_id, from_publisher) WHERE accepted;
CREATE INDEX node_transfer_from ON public.node_transfer USING btree (from_publisher);
CREATE UNIQUE INDEX node_transfer_open ON public.node_transfer USING btree (node_id) WHERE (ended_at IS NULL);
CREATE INDEX node_transfer_to ON public.node_transfer USING btree (to_publisher);

create table notified_condition (
  name text not null,
  at timestamp with time zone default clock_timestamp() not null,
  constraint notified_condition_pkey PRIMARY KEY (name)
);

create table outbox (
  id bigint generated always as identity not null,
  kind text not null,
  workflow_type text,
  workflow_id text not null,
  task_queue text,
  signal_name text,
  args jsonb default '[]'::jsonb not null,
  options jsonb default '{}'::jsonb not null,
  created_at timestamp with time zone default clock_timestamp() not null,
  dispatched_at timestamp with time zone,
  attempts integer default 0 not null,
  next_attempt_at timestamp with time zone default (clock_timestamp() + '00:00:02'::interval) not null,
  last_error text,
  constraint outbox_pkey PRIMARY KEY (id),
  constraint outbox_args_check CHECK (octet_length(args::text) <= 1024),
  constraint outbox_check CHECK ((kind = 'signal'::text) = (signal_name IS NOT NULL)),
  constraint outbox_check1 CHECK ((kind = 'signal'::text) = (workflow_type IS NULL)),
  constraint outbox_kind_check CHECK (kind = ANY (ARRAY['start'::text, 'restart'::text, 'signal'::text])),
  constraint outbox_options_check CHECK (octet_length(options::text) <= 4096)
);
CREATE INDEX outbox_by_workflow ON public.outbox USING btree (workflow_id);
CREATE INDEX outbox_dispatched ON public.outbox USING btree (dispatched_at) WHERE (dispatched_at IS NOT NULL);
CREATE INDEX outbox_due ON public.outbox USING btree (id) WHERE (dispatched_at IS NULL);

create table owner (
  id text not null,
  credits_used bigint default 0 not null,
  stored_bytes bigint default 0 not null,
  slots integer,
  credit_limit bigint,
  task_limit integer,
  byte_limit bigint,
  rate_factor double precision,
  engine text,
  note text,
  limited_by text,
  limited_at timestamp with time zone,
  constraint owner_pkey PRIMARY KEY (id),
  constraint owner_byte_limit_check CHECK (byte_limit >= 0),
  constraint owner_credit_limit_check CHECK (credit_limit >= 0),
  constraint owner_credits_used_check CHECK (credits_used >= 0),
  constraint owner_id_check CHECK (length(id) >= 1 AND length(id) <= 255),
  constraint owner_rate_factor_check CHECK (rate_factor > 0::double precision),
  constraint owner_slots_check CHECK (slots >= 0),
  constraint owner_task_limit_check CHECK (task_limit >= 0)
);
CREATE INDEX owner_limited ON public.owner USING btree (id) WHERE (limited_by IS NOT NULL);

create table pause (
  scope text not null,
  reason text,
  paused_by text not null,
  paused_at timestamp with time zone default clock_timestamp() not null,
  until timestamp with time zone,
  constraint pause_pkey PRIMARY KEY (scope)
);

create table personal_access_token (
  id uuid default gen_random_uuid() not null,
  publisher_id text not null,
  name text not null,
  description text,
  sha256 text not null,
  last4 text not null,
  created_by text not null,
  created_at timestamp with time zone default clock_timestamp() not null,
  expires_at timestamp with time zone,
  last_used_at timestamp with time zone,
  revoked_at timestamp with time zone,
  scope text default 'publish'::text not null,
  node_id text,
  trusted_publisher_id uuid,
  identity_sha256 text,
  provenance jsonb,
  warned_at timestamp with time zone,
  constraint personal_access_token_pkey PRIMARY KEY (id),
  constraint personal_access_token_sha256_key UNIQUE (sha256),
  constraint personal_access_token_created_by_fkey FOREIGN KEY (created_by) REFERENCES app_user(id),
  constraint personal_access_token_publisher_id_fkey FOREIGN KEY (publisher_id) REFERENCES publisher(id),
  constraint personal_access_token_scope_check CHECK (scope = ANY (ARRAY['publish'::text, 'read'::text]))
);
CREATE INDEX personal_access_token_by_creator ON public.personal_access_token USING btree (created_by);
CREATE INDEX personal_access_token_by_node ON public.personal_access_token USING btree (node_id) WHERE (node_id IS NOT NULL);
CREATE INDEX personal_access_token_by_publisher ON public.personal_access_token USING btree (publisher_id, created_at DESC);
CREATE INDEX personal_access_token_by_trust ON public.personal_access_token USING btree (trusted_publisher_id) WHERE (trusted_publisher_id IS NOT NULL);
CREATE UNIQUE INDEX personal_access_token_of_identity ON public.personal_access_token USING btree (identity_sha256) WHERE (identity_sha256 IS NOT NULL);
CREATE INDEX personal_access_token_unwarned ON public.personal_access_token USING btree (expires_at) WHERE ((warned_at IS NULL) AND (revoked_at IS NULL) AND (expires_at IS NOT NULL));
CREATE TRIGGER token_created_event AFTER INSERT ON personal_access_token FOR EACH ROW EXECUTE FUNCTION record_token_event();
CREATE TRIGGER token_revoked_event AFTER UPDATE OF revoked_at ON personal_access_token FOR EACH ROW WHEN (old.revoked_at IS NULL AND new.revoked_at IS NOT NULL) EXECUTE FUNCTION record_token_event();

create table picture (
  key text not null,
  bytes bytea,
  fetched_at timestamp with time zone default clock_timestamp() not null,
  error text,
  constraint picture_pkey PRIMARY KEY (key),
  constraint picture_bytes_check CHECK (octet_length(bytes) <= 262144)
);
CREATE INDEX picture_by_age ON public.picture USING btree (fetched_at);

create table placement (
  id uuid not null,
  task_id uuid not null,
  instance text not null,
  template text not null,
  inputs text[] not null,
  state text default 'open'::text not null,
  detail text,
  at timestamp with time zone default clock_timestamp() not null,
  ended_at timestamp with time zone,
  leased_until timestamp with time zone,
  cleaned_at timestamp with time zone,
  interrupted_at timestamp with time zone,
  sent_at timestamp with time zone,
  heard_at timestamp with time zone,
  logs text,
  prediction text,
  rejection text,
  constraint placement_pkey PRIMARY KEY (id),
  constraint placement_task_id_fkey FOREIGN KEY (task_id) REFERENCES task(id)
);
CREATE INDEX placement_at ON public.placement USING btree (at);
CREATE INDEX placement_left ON public.placement USING btree (instance) WHERE (cleaned_at IS NULL);
CREATE INDEX placement_of_task ON public.placement USING btree (task_id);

create table publisher (
  id text not null,
  name text not null,
  description text,
  logo text,
  source_code_repo text,
  website text,
  support text,
  status text default 'PublisherStatusActive'::text not null,
  status_reason text,
  created_by text not null,
  created_at timestamp with time zone default clock_timestamp() not null,
  rev integer default 1 not null,
  changed_at timestamp with time zone,
  logo_picture uuid,
  constraint publisher_pkey PRIMARY KEY (id),
  constraint publisher_created_by_fkey FOREIGN KEY (created_by) REFERENCES app_user(id),
  constraint publisher_status_check CHECK (status = ANY (ARRAY['PublisherStatusActive'::text, 'PublisherStatusBanned'::text]))
);
CREATE INDEX publisher_active ON public.publisher USING btree (id) WHERE (status = 'PublisherStatusActive'::text);
CREATE INDEX publisher_banned ON public.publisher USING btree (id) WHERE (status <> 'PublisherStatusActive'::text);
CREATE INDEX publisher_by_change ON public.publisher USING btree (changed_at);
CREATE INDEX publisher_by_creator ON public.publisher USING btree (created_by);
CREATE INDEX publisher_logo_picture ON public.publisher USING btree (logo_picture) WHERE (logo_picture IS NOT NULL);
CREATE TRIGGER publisher_changed BEFORE UPDATE ON publisher FOR EACH ROW WHEN (old.name IS DISTINCT FROM new.name OR old.description IS DISTINCT FROM new.description OR old.logo IS DISTINCT FROM new.logo OR old.logo_picture IS DISTINCT FROM new.logo_picture OR old.source_code_repo IS DISTINCT FROM new.source_code_repo OR old.website IS DISTINCT FROM new.website OR old.support IS DISTINCT FROM new.support OR old.status IS DISTINCT FROM new.status) EXECUTE FUNCTION record_publisher_change();
CREATE TRIGGER publisher_renamed AFTER UPDATE ON publisher FOR EACH ROW WHEN (old.name IS DISTINCT FROM new.name) EXECUTE FUNCTION renew_publisher_words();

create table publisher_member (
  id uuid default gen_random_uuid() not null,
  publisher_id text not null,
  user_id text not null,
  role text not null,
  created_at timestamp with time zone default clock_timestamp() not null,
  constraint publisher_member_pkey PRIMARY KEY (id),
  constraint publisher_member_publisher_id_user_id_key UNIQUE (publisher_id, user_id),
  constraint publisher_member_publisher_id_fkey FOREIGN KEY (publisher_id) REFERENCES publisher(id),
  constraint publisher_member_user_id_fkey FOREIGN KEY (user_id) REFERENCES app_user(id),
  constraint publisher_member_role_check CHECK (role = ANY (ARRAY['owner'::text, 'admin'::text, 'member'::text]))
);
CREATE INDEX publisher_member_by_user ON public.publisher_member USING btree (user_id, publisher_id);
CREATE TRIGGER member_changed_event AFTER UPDATE OF role ON publisher_member FOR EACH ROW WHEN (old.role <> new.role) EXECUTE FUNCTION record_member_event();
CREATE TRIGGER member_event AFTER INSERT OR DELETE ON publisher_member FOR EACH ROW EXECUTE FUNCTION record_member_event();

create table rating (
  id uuid default gen_random_uuid() not null,
  node_id text not null,
  user_id text not null,
  stars integer not null,
  text text,
  version text,
  state text not null,
  counts_at timestamp with time zone not null,
  hidden_reason text,
  created_at timestamp with time zone default clock_timestamp() not null,
  edited_at timestamp with time zone,
  withdrawn_at timestamp with time zone,
  reply text,
  replied_at timestamp with time zone,
  reports integer default 0 not null,
  constraint rating_pkey PRIMARY KEY (id),
  constraint rating_node_id_user_id_key UNIQUE (node_id, user_id),
  constraint rating_node_id_fkey FOREIGN KEY (node_id) REFERENCES node(id),
  constraint rating_check CHECK (withdrawn_at IS NULL OR state = 'hidden'::text),
  constraint rating_stars_check CHECK (stars >= 1 AND stars <= 5),
  constraint rating_state_check CHECK (state = ANY (ARRAY['visible'::text, 'waiting'::text, 'hidden'::text]))
);
CREATE INDEX rating_newest ON public.rating USING btree (node_id, created_at DESC, id);
CREATE INDEX rating_reported ON public.rating USING btree (reports DESC, id) WHERE (reports > 0);
CREATE INDEX rating_stars ON public.rating USING btree (node_id, stars, state);
CREATE INDEX rating_waiting ON public.rating USING btree (counts_at) WHERE (state = 'waiting'::text);
CREATE TRIGGER rating_counted AFTER INSERT OR DELETE OR UPDATE OF stars, state ON rating FOR EACH ROW EXECUTE FUNCTION count_rating();

create table rating_mean (
  is_only boolean default true not null,
  mean double precision not null,
  constraint rating_mean_pkey PRIMARY KEY (is_only),
  constraint rating_mean_is_only_check CHECK (is_only)
);

create table rating_report (
  rating_id uuid not null,
  user_id text not null,
  reason text not null,
  constraint rating_vote_pkey PRIMARY KEY (rating_id, user_id),
  constraint rating_vote_rating_id_fkey FOREIGN KEY (rating_id) REFERENCES rating(id) ON DELETE CASCADE
);

create table recovered_host (
  host text not null,
  due_at timestamp with time zone default clock_timestamp() not null,
  constraint recovered_host_pkey PRIMARY KEY (host)
);
CREATE INDEX recovered_host_due ON public.recovered_host USING btree (due_at);

create table redelivery (
  id uuid default gen_random_uuid() not null,
  event_id uuid not null,
  state text default 'pending'::text not null,
  failures integer default 0 not null,
  next_attempt_at timestamp with time zone,
  created_at timestamp with time zone default clock_timestamp() not null,
  receiver_host text,
  failed_host text,
  scheduled_at timestamp with time zone,
  hasten_after timestamp with time zone,
  hastened smallint default 0 not null,
  constraint redelivery_pkey PRIMARY KEY (id),
  constraint redelivery_event_id_fkey FOREIGN KEY (event_id) REFERENCES event(id) ON DELETE CASCADE,
  constraint redelivery_state_check CHECK (state = ANY (ARRAY['pending'::text, 'delivered'::text, 'exhausted'::text, 'stopped'::text]))
);
CREATE INDEX redelivery_by_event ON public.redelivery USING btree (event_id);
CREATE INDEX redelivery_by_host ON public.redelivery USING btree (receiver_host, created_at) WHERE (receiver_host IS NOT NULL);
CREATE INDEX redelivery_failed_at_host ON public.redelivery USING btree (failed_host, hasten_after) WHERE (state = 'pending'::text);
CREATE UNIQUE INDEX redelivery_open ON public.redelivery USING btree (event_id) WHERE (state = 'pending'::text);

create table repository_stars (
  key text not null,
  stars integer,
  etag text,
  error text,
  checked_at timestamp with time zone,
  next_check_at timestamp with time zone default clock_timestamp() not null,
  constraint repository_stars_pkey PRIMARY KEY (key)
);
CREATE INDEX repository_stars_due ON public.repository_stars USING btree (next_check_at);

create table review_request (
  id uuid default gen_random_uuid() not null,
  version_id uuid not null,
  note text default ''::text not null,
  requested_by text not null,
  created_at timestamp with time zone default clock_timestamp() not null,
  closed_at timestamp with time zone,
  decided_status text,
  decided_reason text,
  constraint review_request_pkey PRIMARY KEY (id),
  constraint review_request_version_id_fkey FOREIGN KEY (version_id) REFERENCES version(id)
);
CREATE INDEX review_request_by_version ON public.review_request USING btree (version_id, created_at DESC);
CREATE UNIQUE INDEX review_request_open ON public.review_request USING btree (version_id) WHERE (closed_at IS NULL);
CREATE TRIGGER review_decided_event AFTER UPDATE OF closed_at ON review_request FOR EACH ROW WHEN (old.closed_at IS NULL AND new.closed_at IS NOT NULL) EXECUTE FUNCTION record_review_event();
CREATE TRIGGER review_requested_event AFTER INSERT ON review_request FOR EACH ROW EXECUTE FUNCTION record_review_event();
CREATE TRIGGER review_requested_platform_event AFTER INSERT ON review_request FOR EACH ROW EXECUTE FUNCTION record_platform_event_of();

create table scan (
  version_id uuid not null,
  scanner text not null,
  scanner_version integer not null,
  sha256 text not null,
  complete boolean not null,
  high integer not null,
  medium integer not null,
  info integer not null,
  scanned_at timestamp with time zone default clock_timestamp() not null,
  constraint scan_pkey PRIMARY KEY (version_id, scanner),
  constraint scan_version_id_fkey FOREIGN KEY (version_id) REFERENCES version(id)
);

create table sign_in_account (
  id text not null,
  email text not null,
  is_admin boolean default false not null,
  password text,
  created_at timestamp with time zone default clock_timestamp() not null,
  disabled_at timestamp with time zone,
  look text,
  constraint sign_in_account_pkey PRIMARY KEY (id),
  constraint sign_in_account_email_key UNIQUE (email)
);
CREATE UNIQUE INDEX sign_in_account_look ON public.sign_in_account USING btree (look);
CREATE INDEX sign_in_account_without_look ON public.sign_in_account USING btree (created_at) WHERE (look IS NULL);

create table sign_in_failure (
  key text not null,
  failures integer not null,
  wait_until timestamp with time zone not null,
  at timestamp with time zone default clock_timestamp() not null,
  constraint sign_in_failure_pkey PRIMARY KEY (key)
);
CREATE INDEX sign_in_failure_age ON public.sign_in_failure USING btree (at);

create table sign_in_key (
  period bigint not null,
  private_key text not null,
  created_at timestamp with time zone default clock_timestamp() not null,
  constraint sign_in_key_pkey PRIMARY KEY (period)
);

create table sign_in_once (
  sha256 text not null,
  kind text not null,
  account_id text,
  expires_at timestamp with time zone not null,
  constraint sign_in_once_pkey PRIMARY KEY (sha256),
  constraint sign_in_once_account_id_fkey FOREIGN KEY (account_id) REFERENCES sign_in_account(id)
);
CREATE INDEX sign_in_once_account ON public.sign_in_once USING btree (account_id);
CREATE INDEX sign_in_once_expiry ON public.sign_in_once USING btree (expires_at);

create table sign_in_passkey (
  id text not null,
  account_id text not null,
  public_key text not null,
  counter bigint not null,
  transports text[] not null,
  created_at timestamp with time zone default clock_timestamp() not null,
  used_at timestamp with time zone,
  constraint sign_in_passkey_pkey PRIMARY KEY (id),
  constraint sign_in_passkey_account_id_fkey FOREIGN KEY (account_id) REFERENCES sign_in_account(id)
);
CREATE INDEX sign_in_passkey_account ON public.sign_in_passkey USING btree (account_id);

create table sign_in_record (
  model text not null,
  id text not null,
  payload text not null,
  account_id text,
  grant_id text,
  uid text,
  user_agent text,
  created_at timestamp with time zone default clock_timestamp() not null,
  consumed_at timestamp with time zone,
  expires_at timestamp with time zone not null,
  constraint sign_in_record_pkey PRIMARY KEY (model, id)
);
CREATE INDEX sign_in_record_account ON public.sign_in_record USING btree (account_id);
CREATE INDEX sign_in_record_expiry ON public.sign_in_record USING btree (expires_at);
CREATE INDEX sign_in_record_grant ON public.sign_in_record USING btree (grant_id);
CREATE INDEX sign_in_record_uid ON public.sign_in_record USING btree (uid);

create table subject_link (
  subject text not null,
  user_id text not null,
  created_at timestamp with time zone default clock_timestamp() not null,
  constraint subject_link_pkey PRIMARY KEY (subject)
);

create table task (
  id uuid not null,
  family text not null,
  kind text not null,
  segment text not null,
  owner text not null,
  status text not null,
  settings jsonb not null,
  webhook_url text,
  error_code text,
  error_message text,
  fence integer default 0 not null,
  claimed_at timestamp with time zone,
  failures integer default 0 not null,
  rev integer default 1 not null,
  last_sequence integer default 1 not null,
  created_at timestamp with time zone default clock_timestamp() not null,
  last_moved_at timestamp with time zone default clock_timestamp() not null,
  ended_at timestamp with time zone,
  purged_at timestamp with time zone,
  payload text,
  credits integer default 0 not null,
  off_peak boolean default false not null,
  admitted_at timestamp with time zone,
  progress integer default 0 not null,
  receiver_gone_at timestamp with time zone,
  account text,
  stored_bytes bigint default 0 not null,
  thumbnail text,
  attempts jsonb default '[]'::jsonb not null,
  engine text default 'local'::text not null,
  upstream_id text,
  delete_requested_at timestamp with time zone,
  template_id integer,
  labels jsonb,
  priority smallint default 0 not null,
  start_within integer,
  end_within integer,
  retention_seconds integer,
  purge_at timestamp with time zone,
  waits_for text[],
  waits_since timestamp with time zone,
  waits_on text,
  admission integer default 0 not null,
  start_by timestamp with time zone,
  end_by timestamp with time zone,
  off_peak_by timestamp with time zone,
  batch_id uuid,
  template_version_id integer,
  resubmissions integer default 0 not null,
  engine_error text,
  engine_error_shown boolean default false not null,
  run_again_of uuid,
  output jsonb,
  start_after timestamp with time zone,
  api_key_id uuid,
  constraint task_pkey PRIMARY KEY (id),
  constraint task_credits_check CHECK (credits >= 0),
  constraint task_ended_with_code CHECK ((status = ANY (ARRAY['FAILED'::text, 'failed'::text])) = (error_code IS NOT NULL)),
  constraint task_family_check CHECK (family = ANY (ARRAY['image'::text, 'video'::text])),
  constraint task_owner_check CHECK (length(owner) >= 1 AND length(owner) <= 255),
  constraint task_progress_check CHECK (progress >= 0 AND progress <= 100)
);
CREATE INDEX task_ahead ON public.task USING btree (account, engine, priority) WHERE ((family = 'image'::text) AND (claimed_at IS NULL) AND (ended_at IS NULL) AND ((waits_on IS NULL) OR (waits_on = ANY (ARRAY['turn'::text, 'behind'::text]))));
CREATE INDEX task_by_age ON public.task USING btree (created_at DESC, id DESC);
CREATE INDEX task_by_label ON public.task USING gin (labels jsonb_path_ops) WHERE (labels IS NOT NULL);
CREATE INDEX task_by_owner ON public.task USING btree (owner, segment, created_at DESC, id DESC);
CREATE INDEX task_deadline ON public.task USING btree (LEAST(
CASE
    WHEN (claimed_at IS NULL) THEN start_by
    ELSE NULL::timestamp with time zone
END, end_by, off_peak_by)) WHERE ((ended_at IS NULL) AND (COALESCE(start_by, end_by, off_peak_by) IS NOT NULL));
CREATE INDEX task_later ON public.task USING btree (start_after) WHERE ((waits_on = 'later'::text) AND (ended_at IS NULL));
CREATE INDEX task_open ON public.task USING btree (last_moved_at) WHERE (ended_at IS NULL);
CREATE INDEX task_open_by_account ON public.task USING btree (account) WHERE (ended_at IS NULL);
CREATE INDEX task_open_video ON public.task USING btree (owner, off_peak, created_at, id) WHERE ((family = 'video'::text) AND (ended_at IS NULL));
CREATE INDEX task_to_delete ON public.task USING btree (delete_requested_at) WHERE ((delete_requested_at IS NOT NULL) AND (purged_at IS NULL));
CREATE INDEX task_to_purge ON public.task USING btree (ended_at) WHERE ((ended_at IS NOT NULL) AND (purged_at IS NULL));
CREATE INDEX task_to_purge_early ON public.task USING btree (purge_at) WHERE ((purge_at IS NOT NULL) AND (purged_at IS NULL));
CREATE INDEX task_unclaimed ON public.task USING btree (family, engine, account) WHERE ((waits_on IS NULL) AND (claimed_at IS NULL) AND (ended_at IS NULL));
CREATE INDEX task_video_by_owner ON public.task USING btree (owner, created_at DESC, id DESC) WHERE (family = 'video'::text);
CREATE INDEX task_waiting ON public.task USING btree (family, engine, waits_on, account, priority DESC, created_at, id) WHERE ((waits_on IS NOT NULL) AND (ended_at IS NULL));
CREATE INDEX task_with_slot ON public.task USING btree (owner) WHERE ((family = 'video'::text) AND (ended_at IS NULL) AND (admitted_at IS NOT NULL));
CREATE TRIGGER task_admitted BEFORE INSERT ON task FOR EACH ROW WHEN (new.ended_at IS NULL) EXECUTE FUNCTION admit_new_task();
CREATE CONSTRAINT TRIGGER task_charged AFTER INSERT ON task DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (new.account IS NOT NULL) EXECUTE FUNCTION charge_task();
CREATE CONSTRAINT TRIGGER task_used AFTER UPDATE ON task DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (old.ended_at IS NULL AND new.ended_at IS NOT NULL) EXECUTE FUNCTION count_usage();
CREATE TRIGGER watched_task_ended AFTER UPDATE OF ended_at ON task FOR EACH ROW WHEN (old.ended_at IS NULL AND new.ended_at IS NOT NULL) EXECUTE FUNCTION signal_batch();

create table task_input (
  task_id uuid not null,
  field text not null,
  name text,
  storage_key text,
  url text,
  content_type text,
  bytes bigint,
  sha256 text,
  width integer,
  height integer,
  frames integer,
  constraint task_input_pkey PRIMARY KEY (task_id, field),
  constraint task_input_task_id_fkey FOREIGN KEY (task_id) REFERENCES task(id) ON DELETE CASCADE,
  constraint task_input_check CHECK (storage_key IS NOT NULL OR url IS NOT NULL)
);
CREATE INDEX task_input_by_key ON public.task_input USING btree (storage_key text_pattern_ops) WHERE (storage_key IS NOT NULL);
CREATE UNIQUE INDEX task_input_by_name ON public.task_input USING btree (task_id, name) WHERE (name IS NOT NULL);

create table task_result (
  task_id uuid not null,
  "position" integer not null,
  name text not null,
  storage_key text not null,
  content_type text not null,
  bytes bigint not null,
  sha256 text not null,
  width integer,
  height integer,
  constraint task_result_pkey PRIMARY KEY (task_id, "position"),
  constraint task_result_task_id_name_key UNIQUE (task_id, name),
  constraint task_result_task_id_fkey FOREIGN KEY (task_id) REFERENCES task(id) ON DELETE CASCADE
);

create table task_token (
  sha256 text not null,
  task_id uuid not null,
  maker text not null,
  api_key_id uuid,
  session_uid text,
  created_at timestamp with time zone default clock_timestamp() not null,
  expires_at timestamp with time zone not null,
  constraint task_token_pkey PRIMARY KEY (sha256),
  constraint task_token_task_id_fkey FOREIGN KEY (task_id) REFERENCES task(id) ON DELETE CASCADE
);
CREATE INDEX task_token_expiry ON public.task_token USING btree (expires_at);
CREATE INDEX task_token_maker ON public.task_token USING btree (maker);
CREATE INDEX task_token_task ON public.task_token USING btree (task_id);

create table template (
  id integer generated always as identity not null,
  name text not null,
  digest text not null,
  content json not null,
  members json not null,
  at timestamp with time zone default clock_timestamp() not null,
  removed_at timestamp with time zone,
  constraint template_pkey PRIMARY KEY (id),
  constraint template_name_digest_key UNIQUE (name, digest)
);
CREATE INDEX template_current ON public.template USING btree (name) WHERE (removed_at IS NULL);

create table template_version (
  id integer generated always as identity not null,
  name text not null,
  digest text not null,
  first_seen_at timestamp with time zone default clock_timestamp() not null,
  constraint template_version_pkey PRIMARY KEY (id),
  constraint template_version_name_digest_key UNIQUE (name, digest)
);

create table trusted_publisher (
  id uuid default gen_random_uuid() not null,
  publisher_id text not null,
  node_id text not null,
  provider text not null,
  issuer text not null,
  claims jsonb not null,
  created_by text not null,
  created_at timestamp with time zone default clock_timestamp() not null,
  constraint trusted_publisher_pkey PRIMARY KEY (id),
  constraint trusted_publisher_created_by_fkey FOREIGN KEY (created_by) REFERENCES app_user(id),
  constraint trusted_publisher_publisher_id_fkey FOREIGN KEY (publisher_id) REFERENCES publisher(id),
  constraint trusted_publisher_provider_check CHECK (provider = ANY (ARRAY['github'::text, 'gitlab'::text, 'oidc'::text]))
);
CREATE INDEX trusted_publisher_by_node ON public.trusted_publisher USING btree (node_id, created_at);
CREATE INDEX trusted_publisher_by_publisher ON public.trusted_publisher USING btree (publisher_id, created_by);

create table upload (
  id uuid not null,
  owner text not null,
  file_name text not null,
  declared_type text,
  storage_key text,
  content_type text,
  bytes bigint,
  sha256 text,
  created_at timestamp with time zone default clock_timestamp() not null,
  expires_at timestamp with time zone not null,
  received_at timestamp with time zone,
  purged_at timestamp with time zone,
  stored_bytes bigint default 0 not null,
  api_key_id uuid,
  constraint upload_pkey PRIMARY KEY (id)
);
CREATE INDEX upload_by_digest ON public.upload USING btree (owner, sha256) WHERE (sha256 IS NOT NULL);
CREATE INDEX upload_by_expiry ON public.upload USING btree (expires_at) WHERE (purged_at IS NULL);

create table upstream_body (
  path text not null,
  members json not null,
  constraint upstream_body_pkey PRIMARY KEY (path)
);

create table usage (
  owner text not null,
  key text not null,
  value text not null,
  day date not null,
  kind text not null,
  done integer default 0 not null,
  failed integer default 0 not null,
  cancelled integer default 0 not null,
  credits bigint default 0 not null,
  engine_ms bigint default 0 not null,
  pixels bigint default 0 not null,
  bytes bigint default 0 not null,
  waited integer[] default '{}'::integer[] not null,
  ran integer[] default '{}'::integer[] not null,
  constraint usage_pkey PRIMARY KEY (owner, key, value, day, kind)
);
CREATE INDEX usage_by_key ON public.usage USING btree (key, day);

create table version (
  id uuid not null,
  node_id text not null,
  version text not null,
  canonical text not null,
  major bigint not null,
  minor bigint not null,
  patch bigint not null,
  pre_key text not null,
  changelog text,
  dependencies text[] default '{}'::text[] not null,
  deprecated boolean default false not null,
  tags text[] default '{}'::text[] not null,
  tags_admin text[] default '{}'::text[] not null,
  supported_os text[] default '{}'::text[] not null,
  supported_accelerators text[] default '{}'::text[] not null,
  supported_host_version text,
  supported_host_frontend_version text,
  status text default 'NodeVersionStatusPending'::text not null,
  status_reason text not null,
  scan_incomplete boolean default false not null,
  checks_failed_at timestamp with time zone,
  host_node_extract_status text default 'pending'::text not null,
  extract_reason text,
  extract_source text,
  archive_state text default 'awaiting'::text not null,
  upload_expires_at timestamp with time zone not null,
  upload_started_at timestamp with time zone,
  published_by text not null,
  token_id uuid,
  created_at timestamp with time zone default clock_timestamp() not null,
  last_moved_at timestamp with time zone default clock_timestamp() not null,
  rev integer default 1 not null,
  provenance jsonb,
  host_node_count integer,
  host_node_partial boolean,
  claimed_at timestamp with time zone,
  host_nodes_at timestamp with time zone,
  license_id text,
  constraint version_pkey PRIMARY KEY (id),
  constraint version_node_id_fkey FOREIGN KEY (node_id) REFERENCES node(id),
  constraint version_token_id_fkey FOREIGN KEY (token_id) REFERENCES personal_access_token(id),
  constraint version_archive_state_check CHECK (archive_state = ANY (ARRAY['awaiting'::text, 'received'::text, 'accepted'::text, 'rejected'::text, 'expired'::text, 'replaced'::text])),
  constraint version_check CHECK (status <> 'NodeVersionStatusActive'::text OR archive_state = 'accepted'::text),
  constraint version_check1 CHECK (archive_state <> 'expired'::text OR status = 'NodeVersionStatusDeleted'::text),
  constraint version_extract_source_check CHECK (extract_source = ANY (ARRAY['derived'::text, 'reported'::text, 'trusted'::text])),
  constraint version_host_node_extract_status_check CHECK (host_node_extract_status = ANY (ARRAY['pending'::text, 'reported'::text, 'success'::text, 'failed'::text])),
  constraint version_replaced CHECK (archive_state <> 'replaced'::text OR status = 'NodeVersionStatusDeleted'::text),
  constraint version_status_check CHECK (status = ANY (ARRAY['NodeVersionStatusActive'::text, 'NodeVersionStatusDeleted'::text, 'NodeVersionStatusBanned'::text, 'NodeVersionStatusPending'::text, 'NodeVersionStatusFlagged'::text]))
);
CREATE INDEX version_by_channel ON public.version USING btree (node_id, ((pre_key <> '~'::text)), deprecated, major DESC, minor DESC, patch DESC, pre_key DESC) WHERE (status = 'NodeVersionStatusActive'::text);
CREATE INDEX version_by_node ON public.version USING btree (node_id, created_at DESC, id);
CREATE INDEX version_by_status ON public.version USING btree (status, created_at DESC, id);
CREATE INDEX version_newest ON public.version USING btree (created_at DESC, id);
CREATE UNIQUE INDEX version_number ON public.version USING btree (node_id, canonical) WHERE (archive_state <> ALL (ARRAY['expired'::text, 'replaced'::text]));
CREATE INDEX version_pending ON public.version USING btree (last_moved_at) WHERE ((status = 'NodeVersionStatusPending'::text) AND (checks_failed_at IS NULL));
CREATE INDEX version_reason_part ON public.version USING gin (lower(status_reason) gin_trgm_ops) WITH (fastupdate=off);
CREATE INDEX version_to_sweep ON public.version USING btree (upload_started_at) WHERE (upload_started_at IS NOT NULL);
CREATE INDEX version_unread ON public.version USING btree (last_moved_at) WHERE (host_node_extract_status = ANY (ARRAY['pending'::text, 'reported'::text]));
CREATE TRIGGER upload_wait_changed AFTER UPDATE OF status, upload_expires_at ON version FOR EACH ROW WHEN (old.archive_state = 'awaiting'::text AND old.upload_expires_at > clock_timestamp() AND (new.upload_expires_at <> old.upload_expires_at OR new.status = 'NodeVersionStatusDeleted'::text AND old.status <> 'NodeVersionStatusDeleted'::text)) EXECUTE FUNCTION signal_upload();
CREATE TRIGGER version_claimed BEFORE UPDATE ON version FOR EACH ROW WHEN (new.status = 'NodeVersionStatusActive'::text AND new.host_node_extract_status = 'success'::text AND new.claimed_at IS NULL AND (old.status <> new.status OR old.host_node_extract_status <> new.host_node_extract_status)) EXECUTE FUNCTION set_claimed();
CREATE TRIGGER version_event AFTER UPDATE OF status, archive_state ON version FOR EACH ROW WHEN (old.status <> new.status AND new.status <> 'NodeVersionStatusPending'::text OR old.status = new.status AND old.archive_state = 'awaiting'::text AND new.archive_state = 'received'::text) EXECUTE FUNCTION record_transition_event();
CREATE TRIGGER version_flagged_platform_event AFTER UPDATE OF status ON version FOR EACH ROW WHEN (old.status <> new.status AND new.status = 'NodeVersionStatusFlagged'::text) EXECUTE FUNCTION record_platform_event_of();

create table version_transition (
  id bigint generated always as identity not null,
  version_id uuid not null,
  at timestamp with time zone not null,
  from_status text,
  to_status text not null,
  reason text not null,
  actor text not null,
  constraint version_transition_pkey PRIMARY KEY (id),
  constraint version_transition_version_id_fkey FOREIGN KEY (version_id) REFERENCES version(id)
);
CREATE INDEX version_transition_by_version ON public.version_transition USING btree (version_id, at, id);
CREATE TRIGGER version_transition_decision AFTER INSERT ON version_transition FOR EACH ROW WHEN (new.actor <> 'workflow'::text AND (new.to_status = ANY (ARRAY['NodeVersionStatusActive'::text, 'NodeVersionStatusFlagged'::text, 'NodeVersionStatusBanned'::text]))) EXECUTE FUNCTION record_version_decision();

create table webhook_secret (
  id uuid default gen_random_uuid() not null,
  owner text not null,
  secret text not null,
  created_at timestamp with time zone default clock_timestamp() not null,
  expires_at timestamp with time zone,
  constraint webhook_secret_pkey PRIMARY KEY (id)
);
CREATE INDEX webhook_secret_by_owner ON public.webhook_secret USING btree (owner, created_at DESC);
CREATE UNIQUE INDEX webhook_secret_current ON public.webhook_secret USING btree (owner) WHERE (expires_at IS NULL);

create table worker (
  id uuid not null,
  role text not null,
  slots jsonb not null,
  beat_at timestamp with time zone default clock_timestamp() not null,
  ended_at timestamp with time zone,
  identity text,
  constraint worker_pkey PRIMARY KEY (id)
);

create table workflow_name (
  version_id uuid not null,
  name text not null,
  replaced_by jsonb,
  constraint workflow_name_pkey PRIMARY KEY (version_id, name),
  constraint workflow_name_version_id_fkey FOREIGN KEY (version_id) REFERENCES version(id)
);
CREATE INDEX workflow_name_name ON public.workflow_name USING btree (name);

create view event_webhook as
SELECT e.id,
    e.task_id,
    e.sequence,
    e.status,
    e.state,
    e.failures,
    e.next_attempt_at,
    t.family,
        CASE
            WHEN e.endpoint_id IS NULL THEN COALESCE(t.webhook_url, b.webhook_url)
            WHEN p.status = 'enabled'::text AND NOT (EXISTS ( SELECT
               FROM publisher u
              WHERE u.id = p.publisher_id AND u.status <> 'PublisherStatusActive'::text)) THEN p.url
            ELSE NULL::text
        END AS url,
        CASE
            WHEN e.endpoint_id IS NULL THEN COALESCE(t.owner, b.owner)
            ELSE COALESCE(p.owner, 'endpoint:'::text || p.publisher_id)
        END AS owner,
        CASE
            WHEN e.endpoint_id IS NULL THEN COALESCE(t.account, t.owner, b.owner)
            ELSE COALESCE(p.owner, 'endpoint:'::text || p.publisher_id)
        END AS account,
        CASE
            WHEN e.endpoint_id IS NOT NULL THEN 'endpoint'::text
            ELSE COALESCE(t.kind, b.kind)
        END AS kind,
        CASE
            WHEN e.endpoint_id IS NOT NULL OR b.id IS NOT NULL THEN jsonb_build_object('id', e.endpoint_id, 'subjectId', e.subject_id, 'data', e.data, 'at', e.created_at, 'format', p.format, 'headers', p.headers)
            ELSE NULL::jsonb
        END AS endpoint
   FROM event e
     LEFT JOIN task t ON t.id = COALESCE(e.subject_id, e.task_id)
     LEFT JOIN endpoint p ON p.id = e.endpoint_id
     LEFT JOIN bulk b ON e.endpoint_id IS NULL AND b.id = e.subject_id;

CREATE OR REPLACE FUNCTION public.admit_new_task()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  new.waits_on := task_block(new);
  if new.waits_on is null and exists (
    select from task w
    where w.family = new.family and w.engine = new.engine and w.account = new.account
      and w.waits_on = any(resumable_waits(new.family, new.engine))
      and w.waits_on is not null and w.ended_at is null
  ) then new.waits_on := 'turn'; end if;
  if new.waits_on is null then new.admission := 1; end if;
  return new;
end
$function$;

CREATE OR REPLACE FUNCTION public.blocks(waits_on text)
 RETURNS boolean
 LANGUAGE plpgsql
 STABLE
AS $function$
begin
  return case
    when waits_on like 'pause:%' then exists (
      select from pause p where p.scope = substr(waits_on, 7)
        and coalesce(p.until > clock_timestamp(), true))
    when waits_on like 'breaker:%' then exists (
      select from breaker b where b.scope = substr(waits_on, 9) and b.opened_at is not null)
    else waits_on in ('slot', 'later') or waits_on like 'template:%'
  end;
end
$function$;

CREATE OR REPLACE FUNCTION public.chain_of(endpoint_id uuid, subject_id uuid)
 RETURNS uuid
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE STRICT
RETURN (encode(SUBSTRING(sha256((uuid_send(endpoint_id) || uuid_send(subject_id))) FROM 1 FOR 16), 'hex'::text))::uuid;

CREATE OR REPLACE FUNCTION public.charge_task()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
declare
  max_credits bigint := nullif(current_setting('kiln.max_credits', true), '');
  max_tasks bigint := nullif(current_setting('kiln.max_tasks', true), '');
  max_bytes bigint := nullif(current_setting('kiln.max_bytes', true), '');
  key_id uuid := nullif(current_setting('kiln.api_key_id', true), '');
  is_video boolean := new.family = 'video';
  own owner;
  of_key api_key;
begin
  -- The transaction itself has charged it: that of a release before this one.
  if is_video and exists (select from ledger where task_id = new.id and kind = 'charge') then
    return null;
  end if;
  insert into owner as o (id, credits_used, stored_bytes)
  values (new.account, new.credits, new.stored_bytes)
  on conflict (id) do update set credits_used = o.credits_used + excluded.credits_used,
    stored_bytes = o.stored_bytes + excluded.stored_bytes
  returning * into own;
  max_credits := coalesce(own.credit_limit, max_credits);
  max_tasks := coalesce(own.task_limit, max_tasks);
  max_bytes := coalesce(own.byte_limit, max_bytes);
  if is_video and own.credits_used > max_credits then
    raise exception 'the limit of credits' using errcode = 'KQ003',
      detail = greatest(0, max_credits - own.credits_used + new.credits);
  end if;
  -- Begins once the row is locked, so it sees the tasks of those who had the lock before.
  if max_tasks < (
    select count(*) from (
      select from task where account = new.account and ended_at is null limit max_tasks + 1
    ) open
  ) then
    raise exception 'the quota of open tasks' using errcode = 'KQ001', detail = max_tasks;
  end if;
  -- Results are never rejected, so the account may be over it already.
  if (is_video or new.stored_bytes > 0) and own.stored_bytes > max_bytes then
    raise exception 'the quota of stored bytes' using errcode = 'KQ002', detail = max_bytes;
  end if;
  if is_video then
    insert into ledger (task_id, kind, owner, credits, api_key_id)
    values (new.id, 'charge', new.account, new.credits, key_id);
  end if;
  -- Behind the row of the account, as a refund has them.
  if is_video and key_id is not null then
    update api_key set credits_used = credits_used + new.credits where id = key_id
    returning * into of_key;
    if of_key.credits_used > of_key.credit_cap then
      raise exception 'the cap of an API key' using errcode = 'KQ004',
        detail = json_build_object('used', of_key.credits_used, 'cap', of_key.credit_cap);
    end if;
  end if;
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.code_keys(files json)
 RETURNS bigint[]
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE STRICT
RETURN (SELECT COALESCE(array_agg(DISTINCT hashtextextended(f.sha256, (0)::bigint)), '{}'::bigint[]) AS "coalesce" FROM json_to_recordset(code_keys.files) f(path text, bytes bigint, sha256 text) WHERE ((f.bytes >= 200) AND (f.path ~* '\.(py[cdw]?|[cm]?js|tsx?|sh|bash|ps1|bat|cmd|so|dll|dylib|exe)$'::text)));

CREATE OR REPLACE FUNCTION public.content_digest(files json)
 RETURNS text
 LANGUAGE sql
 STABLE STRICT
AS $function$
  with given as (
    select * from json_to_recordset(files) as f (path text, bytes bigint, sha256 text)
  ), around as (
    select case when bool_and(path like '%/%') and count(distinct split_part(path, '/', 1)) = 1
      then length(min(split_part(path, '/', 1))) + 1 else 0 end as length
    from given
  ), own as (
    select substr(path, around.length + 1) as path, bytes, sha256 from given cross join around
  )
  select encode(sha256(convert_to(
    json_agg(json_build_array(path, sha256) order by path collate "C")::text, 'UTF8')), 'hex')
  from own
  where path <> 'pyproject.toml'
  having sum(bytes) > 0
$function$;

CREATE OR REPLACE FUNCTION public.count_rating()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
declare
  node_key text := coalesce(new.node_id, old.node_id);
  was integer := coalesce((old.state = 'visible')::integer, 0);
  becomes integer := coalesce((new.state = 'visible')::integer, 0);
  stars integer := becomes * coalesce(new.stars, 0) - was * coalesce(old.stars, 0);
begin
  if becomes = was and stars = 0 then
    return null;
  end if;
  -- In the lock order of `registry-lock.ts`. Not `rev`: an editor's If-Match must survive the reviews of others.
  update node set updated_at = greatest(clock_timestamp(), updated_at) where id = node_key;
  update node_stats
  set rating_sum = rating_sum + stars, rating_count = rating_count + becomes - was,
    rating_weight = rating_weight(rating_sum + stars, rating_count + becomes - was)
  where node_id = node_key;
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.count_usage()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
declare
  begun timestamptz := new.claimed_at;
  waited_in integer := usage_bucket(extract(epoch from coalesce(begun, new.ended_at) - greatest(new.created_at, new.start_after)));
  ran_in integer := coalesce(usage_bucket(extract(epoch from new.ended_at - begun)), 0);
  state text := task_state(new.status, new.error_code);
  used_ms bigint;
  made bigint;
  kept bigint;
begin
  select coalesce(sum(greatest(0, extract(epoch from ends - at) * 1000)), 0) into used_ms
  from (
    select (attempt->>'at')::timestamptz as at, coalesce((attempt->>'failed_at')::timestamptz,
      case when lead(n) over (order by n) is null then new.ended_at end) as ends
    from jsonb_array_elements(new.attempts) with ordinality as list (attempt, n)
  ) attempts;
  select coalesce(
    (select sum(width::bigint * height * round(seconds * fps)) from creation where task_id = new.id),
    (select sum(width::bigint * height) from task_result where task_id = new.id), 0) into made;
  select stored_bytes into kept from task where id = new.id;
  insert into usage as u (owner, key, value, day, kind, done, failed, cancelled, credits, engine_ms,
    pixels, bytes, waited, ran)
  select new.owner, label.key, label.value, (new.ended_at at time zone 'UTC')::date, new.kind,
    (state = 'done')::integer, (state = 'failed')::integer, (state = 'cancelled')::integer,
    case when new.status = 'failed' then 0 else new.credits end, used_ms, made, coalesce(kept, 0),
    array_fill(1, array[1], array[waited_in]), array_fill(1, array[1], array[ran_in])
  from (
    select '' as key, '' as value
    union all
    select ':key', new.api_key_id::text where new.api_key_id is not null
    union all
    -- the owner stands under the empty name
    select key, value from jsonb_each_text(new.labels - '')
  ) label
  -- in one order, so that two commits never wait for each other
  order by label.key, label.value
  on conflict (owner, key, value, day, kind) do update set
    done = u.done + excluded.done,
    failed = u.failed + excluded.failed,
    cancelled = u.cancelled + excluded.cancelled,
    credits = u.credits + excluded.credits,
    engine_ms = u.engine_ms + excluded.engine_ms,
    pixels = u.pixels + excluded.pixels,
    bytes = u.bytes + excluded.bytes,
    waited[waited_in] = coalesce(u.waited[waited_in], 0) + 1,
    ran[ran_in] = coalesce(u.ran[ran_in], 0) + 1;
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.current_state(status text, error_code text, waits_on text)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN (waits_on IS NOT NULL) THEN 'waiting'::text WHEN (status = ANY (ARRAY['CREATED'::text, 'created'::text])) THEN 'queued'::text ELSE task_state(status, error_code) END;

CREATE OR REPLACE FUNCTION public.cut_words(given text)
 RETURNS text[]
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN ((regexp_split_to_array(given, '[-_./\s]+'::text) || regexp_split_to_array(given, '[^[:alnum:]]+'::text)) || regexp_split_to_array(regexp_replace(regexp_replace(given, '([[:lower:][:digit:]])([[:upper:]])'::text, '\1 \2'::text, 'g'::text), '([[:upper:]])([[:upper:]][[:lower:]])'::text, '\1 \2'::text, 'g'::text), '[^[:alnum:]]+'::text));

CREATE OR REPLACE FUNCTION public.first_findings(of_version uuid)
 RETURNS jsonb
 LANGUAGE sql
 STABLE
RETURN (SELECT COALESCE(jsonb_agg(jsonb_strip_nulls(to_jsonb(f.*))), '[]'::jsonb) AS "coalesce" FROM (SELECT finding.issue_type, finding.severity, finding.file_path, finding.line_number, finding.message FROM finding WHERE (finding.version_id = first_findings.of_version) ORDER BY (finding.severity <> 'high'::text), (finding.severity <> 'medium'::text), finding.scanner, finding."position" LIMIT 50) f);

CREATE OR REPLACE FUNCTION public.host_node_words(names text[])
 RETURNS tsvector
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE
AS $function$
begin
  return (
    select coalesce(string_agg(quote_lexeme('d' || word), ' '), '')
    from (
      select word, sum(octet_length(word)) over (order by place) as bytes
      from (
        select word, min(place) as place
        from unnest(search_words(left(array_to_string(names, ' '), 100000))) with ordinality as w (word, place)
        group by word
      ) own
    ) bounded
    where bytes <= 65536
  )::tsvector;
end
$function$;

CREATE OR REPLACE FUNCTION public.host_of(url text)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE STRICT
RETURN COALESCE(lower("substring"(url, '^[^:]*://([^/?#]*)'::text)), ''::text);

CREATE OR REPLACE FUNCTION public.is_alive(w worker)
 RETURNS boolean
 LANGUAGE sql
RETURN (((w).ended_at IS NULL) AND ((w).beat_at > (clock_timestamp() - '00:00:30'::interval)));

CREATE OR REPLACE FUNCTION public.joined_words(given text)
 RETURNS text[]
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE
AS $function$
begin
  return (
    select coalesce(array_agg(left(joined, 200)), '{}')
    from (
      select place, string_agg(word, '') over (order by place rows between current row and unbounded following) as joined
      from unnest(regexp_split_to_array(lower(search_text(given)), '[^[:alnum:]]+')) with ordinality as w (word, place)
      where word <> ''
    ) joined
    where place <= 8
  );
end
$function$;

CREATE OR REPLACE FUNCTION public.keep_host_node_policy()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  insert into node_host_policy (node_id, host_node_name, policy)
  select node_id, new.host_node_name, new.policy from version where id = new.version_id
  on conflict (node_id, host_node_name) do update
  set policy = excluded.policy, previous_policy = node_host_policy.policy,
    changed_at = excluded.changed_at
  where node_host_policy.policy <> excluded.policy;
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.leave_first_attempt()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  delete from first_attempt where event_id = new.id;
  -- the events behind it have waited for it
  if new.state <> 'pending' then
    update first_attempt set due_at = clock_timestamp()
    where task_id = new.task_id and sequence > new.sequence and due_at > clock_timestamp();
  end if;
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.lower_all(given text[])
 RETURNS text[]
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE STRICT
RETURN (SELECT COALESCE(array_agg(lower(word.word)), '{}'::text[]) AS "coalesce" FROM unnest(lower_all.given) word(word));

CREATE OR REPLACE FUNCTION public.missing_worker(engine text)
 RETURNS text
 LANGUAGE sql
 STABLE
AS $function$
  select case
    when not exists (select from worker w where w.role = 'core' and is_alive(w)) then 'No core worker lives.'
    when not exists (select from worker w where w.slots ? missing_worker.engine and is_alive(w)) then 'No worker serves its engine.'
  end
$function$;

CREATE OR REPLACE FUNCTION public.named_subject(name text)
 RETURNS uuid
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE STRICT
RETURN (encode(SUBSTRING(sha256(convert_to(name, 'UTF8'::name)) FROM 1 FOR 16), 'hex'::text))::uuid;

CREATE OR REPLACE FUNCTION public.node_words(id text, name text, tags text[], author text, description text)
 RETURNS tsvector
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE
AS $function$
begin
  return (
    select coalesce(string_agg(quote_lexeme(sort || word), ' '), '')
    from (
      select unnest(search_words(id || ' ' || name) || joined_words(id) || joined_words(name)) as word,
        array['a', 'b', 'c'] as sorts
      union all
      select unnest(search_words(left(search_text(array_to_string(tags || author, ' ')), 25000))), array['b', 'c']
      union all
      select unnest(search_words(left(search_text(description), 25000))), array['c']
    ) words, unnest(sorts) sort
  )::tsvector;
end
$function$;

CREATE OR REPLACE FUNCTION public.platform_key(given text)
 RETURNS text[]
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE STRICT
RETURN CASE WHEN (given ~ 'independent|cross.?platform|^(any|all)$'::text) THEN '{any}'::text[] WHEN (given ~ '\m(windows|win32|win64|win\M|microsoft)'::text) THEN '{windows}'::text[] WHEN (given ~ '\m(mac ?os|os ?x|osx|darwin|macintosh|mac)(\M|\d)'::text) THEN '{macos}'::text[] WHEN (given ~ '\m(linux|ubuntu|debian|fedora|centos)'::text) THEN '{linux}'::text[] WHEN (given ~ '\m(posix|unix)$'::text) THEN '{linux,macos}'::text[] WHEN (given ~ 'cuda|\mnvidia'::text) THEN '{cuda}'::text[] WHEN (given ~ 'rocm|\mamd\M|\mhip\M'::text) THEN '{rocm}'::text[] WHEN (given ~ 'direct ?ml'::text) THEN '{directml}'::text[] WHEN (given ~ '\m(mps|metal|apple)\M'::text) THEN '{mps}'::text[] WHEN (given ~ '\m(xpu|oneapi|intel)\M'::text) THEN '{xpu}'::text[] WHEN (given ~ '\m(npu|ascend)\M'::text) THEN '{npu}'::text[] ELSE ARRAY[btrim(regexp_replace(given, '^.*::'::text, ''::text))] END;

CREATE OR REPLACE FUNCTION public.platform_keys(given text[])
 RETURNS text[]
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE STRICT
RETURN (SELECT COALESCE(array_agg(DISTINCT key.key), '{any}'::text[]) AS "coalesce" FROM (unnest(platform_keys.given) name(name) CROSS JOIN LATERAL unnest(platform_key(lower(name.name))) key(key)));

CREATE OR REPLACE FUNCTION public.queue_first_attempt()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if new.endpoint_id is not null then
    insert into first_attempt (event_id, task_id, sequence, account, host)
    select new.id, new.task_id, new.sequence, coalesce(p.owner, 'endpoint:' || p.publisher_id),
      host_of(p.url)
    from endpoint p
    where p.id = new.endpoint_id;
  elsif new.subject_id is not null then
    insert into first_attempt (event_id, task_id, sequence, account, host)
    select new.id, new.task_id, new.sequence, b.owner, host_of(b.webhook_url)
    from bulk b
    where b.id = new.subject_id;
  else
    insert into first_attempt (event_id, task_id, sequence, account, host)
    select new.id, new.task_id, new.sequence, coalesce(t.account, t.owner), host_of(t.webhook_url)
    from task t
    where t.id = new.task_id;
  end if;
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.quote_lexeme(word text)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE STRICT
RETURN ((''''::text || replace(replace(word, '\'::text, '\\'::text), ''''::text, ''''''::text)) || ''''::text);

CREATE OR REPLACE FUNCTION public.rating_weight(sum bigint, votes integer)
 RETURNS double precision
 LANGUAGE sql
 STABLE
AS $function$
  select (sum - votes * mean) / (votes + 5) from rating_mean where is_only
$function$;

CREATE OR REPLACE FUNCTION public.record_content_decision(given uuid, decision text)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
declare
  own archive;
begin
  select * into own from archive where version_id = given for no key update;
  if own.content is null then
    return;
  end if;
  perform pg_advisory_xact_lock(hashtextextended('content ' || own.content, 0));
  delete from banned_file where version_id = given;
  if decision = 'NodeVersionStatusActive' then
    delete from banned_content b using version other, version decided
    where b.content = own.content and other.id = b.version_id
      and decided.id = given and other.node_id = decided.node_id;
    return;
  end if;
  insert into banned_content (content, version_id) values (own.content, given)
  on conflict do nothing;
  if decision = 'NodeVersionStatusBanned' then
    insert into banned_file (sha256, version_id)
    select distinct f.sha256, given
    from json_to_recordset(own.files) as f (path text, bytes bigint, sha256 text)
    where f.bytes >= 200
      and f.path ~* '\.(py[cdw]?|[cm]?js|tsx?|sh|bash|ps1|bat|cmd|so|dll|dylib|exe)$';
  end if;
end
$function$;

CREATE OR REPLACE FUNCTION public.record_late_content()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  perform record_content_decision(new.version_id, m.to_status)
  from (
    select to_status, actor from version_transition
    where version_id = new.version_id and to_status <> 'NodeVersionStatusDeleted'
    order by at desc, id desc limit 1
  ) m
  where m.actor <> 'workflow'
    and m.to_status in ('NodeVersionStatusFlagged', 'NodeVersionStatusBanned');
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.record_latest_license()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  new.license_id = (select license_id from version where id = new.latest_version_id);
  return new;
end
$function$;

CREATE OR REPLACE FUNCTION public.record_member_event()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
declare
  m constant publisher_member := case when tg_op = 'DELETE' then old else new end;
begin
  perform record_publisher_event(m.publisher_id,
    case tg_op when 'INSERT' then 'member.added' when 'UPDATE' then 'member.changed' else 'member.removed' end,
    m.id, jsonb_build_object('member_id', m.id, 'user_id', shown_user(m.user_id), 'role', m.role,
      'previous_role', case when tg_op = 'UPDATE' then old.role end));
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.record_node_listing()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if tg_op = 'UPDATE' and old.listed then
    insert into node_change (node_id, listed, id_lower, name_lower, words)
    select id, true, id_lower, name_lower, words from node where id = old.node_id;
  else
    insert into node_change (node_id, listed) values (new.node_id, false);
  end if;
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.record_node_text()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  insert into node_change (node_id, listed, id_lower, name_lower, words)
  select old.id, true, old.id_lower, old.name_lower, old.words
  from node_stats
  where node_id = old.id and listed
    and current_setting('kiln.renews_words', true) is distinct from 'on';
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.record_owner_event(of_owner text, type text, subject uuid, facts jsonb)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
declare
  e record;
begin
  for e in
    select p.id, chain_of(p.id, subject) as chain
    from endpoint p
    where p.owner = of_owner and p.status = 'enabled' and type = any(p.events)
    order by p.id
  loop
    -- The numbers of a chain are counted: two transactions must not count the same.
    perform pg_advisory_xact_lock(hashtextextended('chain ' || e.chain, 0));
    insert into event (task_id, sequence, status, deliver, state, endpoint_id, subject_id, data)
    select e.chain, coalesce(max(sequence), 0) + 1, type, true, 'pending', e.id, subject,
      jsonb_strip_nulls(facts)
    from event where task_id = e.chain;
  end loop;
end
$function$;

CREATE OR REPLACE FUNCTION public.record_platform_event(type text, subject uuid, facts jsonb)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
declare
  e record;
begin
  for e in
    select p.id, chain_of(p.id, subject) as chain
    from endpoint p
    where p.owner = 'endpoint:/platform' and p.status = 'enabled' and type = any(p.events)
    order by p.id
  loop
    -- The numbers of a chain are counted: two transactions must not count the same.
    perform pg_advisory_xact_lock(hashtextextended('chain ' || e.chain, 0));
    insert into event (task_id, sequence, status, deliver, state, endpoint_id, subject_id, data)
    select e.chain, coalesce(max(sequence), 0) + 1, type, true, 'pending', e.id, subject,
      jsonb_strip_nulls(facts)
    from event where task_id = e.chain;
  end loop;
end
$function$;

CREATE OR REPLACE FUNCTION public.record_platform_event_of()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if tg_table_name = 'version' then
    perform record_platform_event('version.flagged', new.id, jsonb_build_object('node_id', new.node_id,
      'version', new.version, 'version_id', new.id, 'reason', new.status_reason));
  elsif tg_table_name = 'review_request' then
    perform record_platform_event('review.requested', v.id, jsonb_build_object('node_id', v.node_id,
      'version', v.version, 'version_id', v.id, 'review_id', new.id))
    from version v where v.id = new.version_id;
  elsif tg_table_name = 'node_report' then
    perform record_platform_event('report.made', new.id, jsonb_build_object('node_id', new.node_id,
      'reason', new.reason, 'report_id', new.id));
  else
    perform record_platform_event(case when new.opened_at is null then 'breaker.closed' else 'breaker.opened' end,
      named_subject(new.scope), jsonb_build_object('engine', substring(new.scope from 8), 'failures',
      nullif(new.failures, 0)));
  end if;
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.record_publisher_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  new.changed_at = greatest(clock_timestamp(), old.changed_at);
  return new;
end
$function$;

CREATE OR REPLACE FUNCTION public.record_publisher_event(publisher text, type text, subject uuid, facts jsonb)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
declare
  e record;
begin
  for e in
    select p.id, chain_of(p.id, subject) as chain
    from endpoint p
    where p.publisher_id = publisher and p.status = 'enabled' and type = any(p.events)
    order by p.id
  loop
    -- The numbers of a chain are counted: two transactions must not count the same.
    perform pg_advisory_xact_lock(hashtextextended('chain ' || e.chain, 0));
    insert into event (task_id, sequence, status, deliver, state, endpoint_id, subject_id, data)
    select e.chain, coalesce(max(sequence), 0) + 1, type, true, 'pending', e.id, subject,
      jsonb_build_object('publisher_id', publisher) || jsonb_strip_nulls(facts)
    from event where task_id = e.chain;
  end loop;
end
$function$;

CREATE OR REPLACE FUNCTION public.record_review_event()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  perform record_version_event(case when new.closed_at is null then 'review.requested' else 'review.decided' end,
    new.version_id, jsonb_build_object('review_id', new.id));
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.record_token_event()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  perform record_publisher_event(new.publisher_id,
    case when new.revoked_at is null then 'token.created' else 'token.revoked' end, new.id,
    jsonb_build_object('token_id', new.id, 'name', new.name, 'scope', new.scope,
      'node_id', new.node_id, 'trusted_publisher_id', new.trusted_publisher_id,
      'created_by', shown_user(new.created_by), 'expires_at', new.expires_at));
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.record_transition_event()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  perform record_version_event(case when old.status = new.status then 'version.received'
    else 'version.' || lower(replace(new.status, 'NodeVersionStatus', '')) end, new.id, '{}');
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.record_version_decision()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  perform record_content_decision(new.version_id, new.to_status);
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.record_version_event(type text, of_version uuid, more jsonb)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
begin
  perform record_publisher_event(n.publisher_id, type, v.id, jsonb_build_object('node_id', v.node_id,
    'version_id', v.id, 'version', v.version, 'channel', case when v.pre_key = '~' then 'latest' else 'pre' end,
    'status', v.status, 'status_reason', v.status_reason,
    'findings', case when type in ('version.flagged', 'version.banned', 'review.decided')
      and v.status in ('NodeVersionStatusFlagged', 'NodeVersionStatusBanned') then first_findings(v.id) end) || more)
  from version v
  join node n on n.id = v.node_id
  where v.id = of_version and exists (
    select from endpoint p
    where p.publisher_id = n.publisher_id and p.status = 'enabled' and type = any(p.events)
  );
end
$function$;

CREATE OR REPLACE FUNCTION public.renew_publisher_words()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  perform from node where publisher_id = new.id order by id for no key update;
  update node set words = null where publisher_id = new.id;
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.repository_key(given text)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE STRICT
RETURN regexp_replace(regexp_replace(lower(given), '^[a-z0-9+.-]+://([^/@]*@)?'::text, ''::text), '/*(\.git)?/*$'::text, ''::text);

CREATE OR REPLACE FUNCTION public.resumable_waits(of_family text, of_engine text)
 RETURNS text[]
 LANGUAGE plpgsql
 STABLE
AS $function$
declare
  word text := '';
  words text[] := '{}';
begin
  loop
    select min(waits_on) into word from task
    where family = of_family and engine = of_engine and waits_on > word
      and waits_on is not null and ended_at is null;
    exit when word is null;
    if not blocks(word) then words := words || word; end if;
  end loop;
  return words;
end
$function$;

CREATE OR REPLACE FUNCTION public.search_query(term text, sort text)
 RETURNS tsquery
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE STRICT
 SET plan_cache_mode TO 'force_generic_plan'
AS $function$
declare
  given text := lower(search_text(term));
begin
  return (
    with word as (
      select part as word, not (length(part) = 2 and part ~ unspaced_run()) as begins, false as joined
      from unnest(regexp_split_to_array(given, '\s+')) whole,
        unnest(case when whole ~ '^[-_./]*$' then array[whole] else regexp_split_to_array(
          regexp_replace(whole, '(' || unspaced_run() || ')', ' \1 ', 'g'), '[-_./\s]+') end) piece,
        unnest(case when piece ~ unspaced_run() then unspaced_parts(piece) else array[piece] end) part
      -- Where the parts are, their last letter is, too.
      where part <> '' and (length(part) > 1 or length(piece) = 1)
      union all
      select joined, true, true from regexp_replace(given, '[^[:alnum:]]+', '', 'g') joined where joined <> ''
    ), lexeme as (
      select joined, case when sort = 'd' then '(' || quote_lexeme('c' || left(word, 200)) || ending || ' | '
        || quote_lexeme('d' || left(word, 200)) || ending || ')' else quote_lexeme(sort || left(word, 200)) || ending end as lexeme
      from word, lateral (select case when begins then ':*' else '' end as ending) as e
    )
    select string_agg(lexeme, ' & ') filter (where not joined) || case when count(*) > 2
      then coalesce(' | ' || min(lexeme) filter (where joined), '') else '' end
    from lexeme
  )::tsquery;
end
$function$;

CREATE OR REPLACE FUNCTION public.search_text(given text)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN (octet_length(given) = length(given)) THEN given ELSE translate(NORMALIZE(given, NFKC), 'ァアィイゥウェエォオカガキギクグケゲコゴサザシジスズセゼソゾタダチヂッツヅテデトドナニヌネノハバパヒビピフブプヘベペホボポマミムメモャヤュユョヨラリルレロヮワヰヱヲンヴヵヶヽヾ、。・「」『』【】〈〉《》〔〕'::text, 'ぁあぃいぅうぇえぉおかがきぎくぐけげこごさざしじすずせぜそぞただちぢっつづてでとどなにぬねのはばぱひびぴふぶぷへべぺほぼぽまみむめもゃやゅゆょよらりるれろゎわゐゑをんゔゕゖゝゞ               '::text) END;

CREATE OR REPLACE FUNCTION public.search_words(given text)
 RETURNS text[]
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE
AS $function$
begin
  return (
    select coalesce(array_agg(left(lower(word), 200)), '{}')
    from unnest(regexp_split_to_array(search_text(given), '\s+')) whole,
      -- Most are in lower case and whole, and need not be cut.
      unnest(case when whole ~ '^[[:lower:][:digit:]]*$' then array[whole]
        when whole !~ unspaced_run() then whole || cut_words(whole)
        else whole || unspaced_parts(whole) || cut_words(regexp_replace(whole, unspaced_run(), ' ', 'g')) end) word
    where word <> ''
  );
end
$function$;

CREATE OR REPLACE FUNCTION public.send_signal(to_workflow text, name text)
 RETURNS void
 LANGUAGE sql
AS $function$
  insert into outbox (kind, workflow_id, signal_name, next_attempt_at)
  values ('signal', to_workflow, name, clock_timestamp());
  select pg_notify('kiln_changes', 'outbox');
$function$;

CREATE OR REPLACE FUNCTION public.set_claimed()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  new.claimed_at := clock_timestamp();
  return new;
end
$function$;

CREATE OR REPLACE FUNCTION public.set_content()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  new.content := content_digest(new.files);
  return new;
end
$function$;

CREATE OR REPLACE FUNCTION public.set_display_name()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  new.display_name = (
    select h.display_name from node n join host_node h on h.version_id = n.latest_version_id
    where n.id = new.node_id and h.host_node_name = new.name);
  return new;
end
$function$;

CREATE OR REPLACE FUNCTION public.set_node_words()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
declare
  names text[] := (select array[id, name] from publisher where id = new.publisher_id);
  descriptions text[] := '{}';
begin
  if new.translations is not null then
    names = names || translated_texts(new.translations, 'name');
    descriptions = translated_texts(new.translations, 'description');
  end if;
  new.words = node_words(new.id, new.name, new.tags || names, new.author,
    concat_ws(' ', new.description, array_to_string(descriptions, ' ')))
    || coalesce((select words from node_host_names where node_id = new.id), '');
  return new;
end
$function$;

CREATE OR REPLACE FUNCTION public.settle_host_names()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  insert into node_host_names (node_id, names, words)
  select node_id,
    string_agg(lower(concat_ws(E'\x01', name collate "default", display_name)), E'\x01' order by name),
    host_node_words(array_agg(concat_ws(' ', name, display_name) order by name))
  from current_host_node
  where node_id in (select node_id from changed)
  group by node_id
  on conflict (node_id) do update set names = excluded.names, words = excluded.words;
  delete from node_host_names h
  where node_id in (select node_id from changed)
    and not exists (select from current_host_node c where c.node_id = h.node_id);
  update node set words = null where id in (select node_id from changed);
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.shown_user(id text)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN (id !~ '[^\s@]@[^\s@]'::text) THEN id ELSE NULL::text END;

CREATE OR REPLACE FUNCTION public.signal_batch()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  perform send_signal('run-batch/' || id, 'taskEnded') from bulk where watched_task = new.id;
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.signal_upload()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  perform send_signal('receive-archive/' || new.id, 'archiveUploaded');
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.stored_bytes(value anyelement)
 RETURNS integer
 LANGUAGE sql
 STABLE PARALLEL SAFE
AS $function$
  select case
    when value is null then 0
    when pg_column_compression(value) is null then pg_column_size(value)
    else 255 * least(pg_column_size(value), 4096)
  end
$function$;

CREATE OR REPLACE FUNCTION public.stored_bytes(value text)
 RETURNS integer
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN COALESCE(octet_length(value), 0);

CREATE OR REPLACE FUNCTION public.task_block(t task)
 RETURNS text
 LANGUAGE plpgsql
 STABLE
AS $function$
declare
  found_scope text;
  scopes text[] := task_scopes(t.engine, t.family, t.kind, t.owner);
begin
  if t.start_after > clock_timestamp() then return 'later'; end if;
  if t.upstream_id is null then
    select p.scope into found_scope from pause p
    where p.scope = any(scopes) and coalesce(p.until > clock_timestamp(), true)
    order by p.until desc nulls first limit 1;
    if found then return 'pause:' || found_scope; end if;
  end if;
  select b.scope into found_scope from breaker b
  where b.scope = any(scopes) and b.opened_at is not null and b.probe_id is distinct from t.id
  order by b.scope limit 1;
  if found then return 'breaker:' || found_scope; end if;
  if t.family = 'video' then return case when t.admitted_at is null then 'slot' end; end if;
  -- One of a higher priority has a line of its own in Temporal, and a turn of the account is its turn.
  if t.claimed_at is null and exists (
    select from task ahead
    where ahead.account = t.account and ahead.engine = t.engine and ahead.priority > t.priority
      and ahead.family = 'image' and ahead.claimed_at is null and ahead.ended_at is null
      and (ahead.waits_on is null or ahead.waits_on in ('turn', 'behind'))
  ) then return 'behind'; end if;
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.task_scopes(engine text, family text, kind text, owner text)
 RETURNS text[]
 LANGUAGE sql
 IMMUTABLE
RETURN ARRAY['all'::text, ('engine:'::text || engine), ((('engine:'::text || engine) || ':'::text) || family), ('kind:'::text || kind), ('owner:'::text || owner)];

CREATE OR REPLACE FUNCTION public.task_state(status text, error_code text)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN (status = ANY (ARRAY['CREATED'::text, 'created'::text])) THEN 'waiting'::text WHEN (status = 'queueing'::text) THEN 'queued'::text WHEN (status = ANY (ARRAY['IN_PROGRESS'::text, 'processing'::text])) THEN 'running'::text WHEN (status = ANY (ARRAY['COMPLETED'::text, 'success'::text])) THEN 'done'::text WHEN (error_code = ANY (ARRAY['cancelled'::text, 'UserCancelled'::text])) THEN 'cancelled'::text ELSE 'failed'::text END;

CREATE OR REPLACE FUNCTION public.translated_texts(translations jsonb, member text)
 RETURNS text[]
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN (SELECT COALESCE(array_agg((t.texts ->> translated_texts.member)), '{}'::text[]) AS "coalesce" FROM jsonb_each(translated_texts.translations) t(tag, texts) WHERE (t.tag ~* '^([a-z]{2,3}|[a-z]{5,8})(-[a-z0-9]{1,8})*$'::text));

CREATE OR REPLACE FUNCTION public.unspaced_parts(given text)
 RETURNS text[]
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE
AS $function$
begin
  return (
    select coalesce(array_agg(part), '{}')
    from regexp_matches(given, unspaced_run(), 'g') run, lateral (
      select letter || lead(letter, 1, '') over (order by place) as part
      from unnest(string_to_array(run[1], null)) with ordinality as l (letter, place)
    ) parts
  );
end
$function$;

CREATE OR REPLACE FUNCTION public.unspaced_run()
 RETURNS text
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN '[\u1100-\u11ff\u3005-\u3007\u3041-\u312f\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff\U00020000-\U000323af]+'::text;

CREATE OR REPLACE FUNCTION public.usage_bucket(seconds double precision)
 RETURNS integer
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE STRICT
RETURN CASE WHEN (seconds < (0.1)::double precision) THEN 1 ELSE (LEAST((44)::double precision, ((2)::double precision + floor((((2)::double precision * ln((seconds * (10)::double precision))) / ln((2)::double precision))))))::integer END;

CREATE OR REPLACE FUNCTION public.wait_reasons(id uuid, engine text, family text, kind text, owner text, waits_on text, machines text[], claimed_at timestamp with time zone, last_moved_at timestamp with time zone)
 RETURNS text[]
 LANGUAGE plpgsql
 STABLE
AS $function$
declare
  is_admitted boolean := waits_on is null or waits_on like 'template:%';
  reasons text[];
  missing text;
begin
  if waits_on like 'breaker:%' and blocks(waits_on) then
    return (
      select array_remove(array['Its engine does not work.',
        'It is tried again at ' || to_char(max(retry_at) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') || '.'], null)
      from breaker b where 'breaker:' || b.scope = waits_on and b.opened_at is not null
    );
  end if;
  if waits_on = 'later' then
    return (
      select array['It starts later.', 'It starts at ' || to_char(t.start_after at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') || '.']
      from task t where t.id = wait_reasons.id
    );
  end if;
  if is_admitted and (claimed_at is not null or machines is not null) then
    return machines;
  end if;
  -- The pause that ends last, until when and why; but of an owner's no more than that, which admins alone read.
  select case when scope like 'owner:%' then array['It is paused.'] else array_remove(array['It is paused.',
    'The pause ends at ' || to_char(until at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') || '.', 'Reason: ' || reason], null) end
  into reasons
  from pause where scope = any(task_scopes(engine, family, kind, owner)) and coalesce(until > clock_timestamp(), true)
  order by until desc nulls first
  limit 1;
  if reasons is not null then
    return reasons;
  elsif not is_admitted then
    -- Of a video that nothing blocks any more a slot is what it waits for.
    return array[case
      when waits_on !~ '^(pause|breaker):' and waits_on <> 'turn' then waits_on
      when family = 'video' then 'slot'
      else 'turn' end];
  -- An admitted task that nobody has claimed for so long says why.
  elsif last_moved_at > now() - interval '10 seconds' then
    return null;
  end if;
  missing := missing_worker(engine);
  if missing is not null then
    return array[missing];
  elsif exists (
    select from outbox o where o.workflow_id = family || '-task/' || wait_reasons.id and o.kind <> 'signal' and o.dispatched_at is null
      -- a start that was just enqueued is on its way
      and o.created_at < now() - interval '10 seconds'
  ) then
    return array['Temporal has not taken it.'];
  end if;
  return array['All workers are busy.'];
end
$function$;
