-- What is moderated is remembered by what it is: a publisher replaces rows of versions as often as it likes.

-- The policy of a host node name of a node, for all its versions, past and to come.
create table node_host_policy (
  node_id text collate "C" not null references node (id),
  host_node_name text collate "C" not null,
  policy text not null
    check (policy in ('HostNodePolicyActive', 'HostNodePolicyBanned', 'HostNodePolicyLocalOnly')),
  reason text,
  -- before the last change: what versions have had that are older than it
  previous_policy text not null default 'HostNodePolicyActive',
  changed_at timestamptz not null default clock_timestamp(),
  primary key (node_id, host_node_name)
);

-- step
-- Of several versions the strictest counts. An api of the release before goes on writing the policies of versions.
create function keep_host_node_policy() returns trigger
language plpgsql
as $$
begin
  insert into node_host_policy (node_id, host_node_name, policy)
  select node_id, new.host_node_name, new.policy from version where id = new.version_id
  on conflict (node_id, host_node_name) do update
  set policy = excluded.policy, previous_policy = node_host_policy.policy,
    changed_at = excluded.changed_at
  where node_host_policy.policy <> excluded.policy;
  return null;
end
$$;

create trigger host_node_policy_kept after insert or update on host_node_policy for each row
  execute function keep_host_node_policy();

insert into node_host_policy (node_id, host_node_name, policy)
select v.node_id, y.host_node_name,
  case when bool_or(y.policy = 'HostNodePolicyBanned') then 'HostNodePolicyBanned'
    when bool_or(y.policy = 'HostNodePolicyLocalOnly') then 'HostNodePolicyLocalOnly'
    else 'HostNodePolicyActive' end
from host_node_policy y join version v on v.id = y.version_id
group by v.node_id, y.host_node_name
on conflict do nothing;

-- step
-- Banned ones are in no search and own no name: `updateCurrentHostNodes` leaves them out. Whoever writes the names of a node
-- has its lock, too.
do $$
begin
  perform from node where id in (
    select node_id from node_host_policy where policy = 'HostNodePolicyBanned')
  order by id for no key update;
  delete from current_host_node c using node_host_policy y
  where y.node_id = c.node_id and y.host_node_name = c.name and y.policy = 'HostNodePolicyBanned';
  update listed_count set changes = changes + 1 where kind = 'node' and slot = 0;
end $$;

-- step
-- Digest of the files without the project file, whose version number each publication changes. One folder around all of
-- them does not count. Null for nothing but empty files.
create function content_digest(files json) returns text
language sql stable strict
as $$
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
$$;

alter table archive add column content text;

-- Content that nobody may publish, and the version for which that was decided last.
create table banned_content (
  content text primary key,
  version_id uuid not null references version (id)
);

-- Files of code in banned versions.
create table banned_file (
  sha256 text not null,
  version_id uuid not null references version (id),
  primary key (sha256, version_id)
);
create index banned_file_by_version on banned_file (version_id);

-- step
-- The version that has the same content, or file.
alter table finding add column other_version_id uuid references version (id);

-- step
-- A decision of a person on a version is one on its content. It is locked, so that a publication of the same content that
-- is decided on meanwhile (`putContentFindings`) sees it, or has come before.
create function note_content_decision(given uuid, decision text) returns void
language plpgsql
as $$
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
    delete from banned_content where content = own.content;
    return;
  end if;
  insert into banned_content (content, version_id) values (own.content, given)
  on conflict (content) do update set version_id = excluded.version_id;
  if decision = 'NodeVersionStatusBanned' then
    -- Shorter ones, such as an empty __init__.py, are alike by chance.
    insert into banned_file (sha256, version_id)
    select distinct f.sha256, given
    from json_to_recordset(own.files) as f (path text, bytes bigint, sha256 text)
    where f.bytes >= 200
      and f.path ~* '\.(py[cdw]?|[cm]?js|tsx?|sh|bash|ps1|bat|cmd|so|dll|dylib|exe)$';
  end if;
end
$$;

create function note_version_decision() returns trigger
language plpgsql
as $$
begin
  perform note_content_decision(new.version_id, new.to_status);
  return null;
end
$$;

-- `writeTransition` makes the rows.
create trigger version_move_decision after insert on version_move for each row
  when (new.actor <> 'workflow' and new.to_status in
    ('NodeVersionStatusActive', 'NodeVersionStatusFlagged', 'NodeVersionStatusBanned'))
  execute function note_version_decision();

create function set_content() returns trigger
language plpgsql
as $$
begin
  new.content := content_digest(new.files);
  return new;
end
$$;

-- `putFiles` writes the files.
create trigger archive_content before insert or update of files on archive for each row
  execute function set_content();

-- A version may be banned before its archive was read.
create function note_late_content() returns trigger
language plpgsql
as $$
begin
  perform note_content_decision(new.version_id, m.to_status)
  from (
    select to_status, actor from version_move
    where version_id = new.version_id and to_status <> 'NodeVersionStatusDeleted'
    order by at desc, id desc limit 1
  ) m
  where m.actor <> 'workflow'
    and m.to_status in ('NodeVersionStatusFlagged', 'NodeVersionStatusBanned');
  return null;
end
$$;

create trigger archive_content_known after update on archive for each row
  when (new.content is not null and new.content is distinct from old.content)
  execute function note_late_content();

-- step alone
-- The archives that are there; the last trigger notes which of them are banned.
do $$
declare
  last uuid := '00000000-0000-0000-0000-000000000000';
  versions uuid[];
begin
  loop
    versions := array(select version_id from archive where version_id > last order by version_id limit 200);
    exit when cardinality(versions) = 0;
    update archive set content = content_digest(files)
    where version_id = any(versions) and files is not null and content is null;
    last := versions[cardinality(versions)];
    commit;
  end loop;
end $$;

-- step alone
create index concurrently archive_by_content on archive (content) where content is not null;
