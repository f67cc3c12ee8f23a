-- Whose a content, and a host node name, is.

-- A content may be banned in several nodes, and freed in one of them.
alter table banned_content
  drop constraint banned_content_pkey,
  add primary key (content, version_id);

-- As in 0029, but that an Active frees the content in the node of its version alone: a copy does not end with the ban of
-- whoever had it first, nor the ban of a copy with his.
create or replace function note_content_decision(given uuid, decision text) returns void
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
$$;

-- step
-- Since when a version claims the names of its host nodes: it is Active, and they are read. A number may be published long
-- before its archive, and an old version may get its names late. Null: since it was created.
alter table version add column claimed_at timestamptz;

create function set_claimed() returns trigger
language plpgsql
as $$
begin
  new.claimed_at := clock_timestamp();
  return new;
end
$$;

create trigger version_claimed before update on version for each row
  when (new.status = 'NodeVersionStatusActive' and new.host_node_extract_status = 'success'
    and new.claimed_at is null
    and (old.status <> new.status or old.host_node_extract_status <> new.host_node_extract_status))
  execute function set_claimed();

-- Who made a webhook subscription of a publisher, with whose membership it ends; null: it was made before.
alter table endpoint
  add column created_by text collate "C",
  drop constraint endpoint_disabled_reason_check,
  add constraint endpoint_disabled_reason_check
    check (disabled_reason in ('requested', 'gone', 'failing', 'member_removed'));

-- step alone
-- Versions that claim names already: flagged and active once more, they keep their age.
do $$
declare
  last uuid := '00000000-0000-0000-0000-000000000000';
  versions uuid[];
begin
  loop
    versions := array(select id from version where id > last order by id limit 1000);
    exit when cardinality(versions) = 0;
    update version set claimed_at = created_at
    where id = any(versions) and claimed_at is null
      and status = 'NodeVersionStatusActive' and host_node_extract_status = 'success';
    last := versions[cardinality(versions)];
    commit;
  end loop;
end $$;

-- step alone
-- Ids that differ in marks alone.
create index concurrently node_by_plain_id on node (regexp_replace(id_lower, '[-_.]+', '-', 'g'));
