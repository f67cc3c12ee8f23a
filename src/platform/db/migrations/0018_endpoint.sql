-- Endpoints: addresses that publishers, and owners of tasks, are told at. Their events go the way of task events: a row of
-- `event` for each endpoint that wants one, written with the move. Those of tasks are written by the one statement that
-- moves tasks; those of the registry by triggers, so that none of its statements can forget them.
-- earlier: 3c610a94ce8f4afd0c8d71a4b738fe4e9d761ffffd98aa4cecf50d032fd50976
-- earlier: 7103cac9410b733190997c2895fff2518c7f1327a5cd00bf4964ac51e9bd9616

create table endpoint (
  id uuid primary key default gen_random_uuid(),
  -- whose it is: one of the two
  publisher_id text collate "C" references publisher (id),
  owner text,
  url text not null,
  events text[] not null,
  -- a deleted one stays until its events are removed by age
  status text not null default 'enabled' check (status in ('enabled', 'disabled', 'deleted')),
  disabled_reason text check (disabled_reason in ('requested', 'gone', 'failing')),
  disabled_at timestamptz,
  -- the first try that failed since the last one that arrived
  failing_since timestamptz,
  created_at timestamptz not null default clock_timestamp(),
  check ((publisher_id is null) <> (owner is null))
);

create index endpoint_by_publisher on endpoint (publisher_id) where status <> 'deleted';
create index endpoint_by_owner on endpoint (owner) where status <> 'deleted';
create index endpoint_deleted on endpoint (id) where status = 'deleted';

-- step
-- Of an endpoint's event task_id is its chain: what is told in order, which is one task, version, token or member at one
-- endpoint. A chain has no row. `status` is the type of the event.
alter table event drop constraint event_task_id_fkey;
alter table event
  add column endpoint_id uuid references endpoint (id) on delete cascade,
  -- what it is about; null of a test
  add column subject_id uuid,
  -- what is told; null where it is made of the task when it is sent
  add column data jsonb;

-- step alone
create index concurrently event_by_endpoint on event (endpoint_id, created_at desc, id desc)
  where endpoint_id is not null;

-- step alone
create index concurrently event_of_endpoint_by_age on event (created_at) where endpoint_id is not null;

-- step
-- An event with where it is sent: url is null where nobody is to be told any more.
create view told_event as
select e.id, e.task_id, e.sequence, e.status, e.state, e.failures, e.next_attempt_at, t.family,
  case when e.endpoint_id is null then t.webhook_url
    when p.status = 'enabled' and not exists (
      select from publisher u where u.id = p.publisher_id and u.status <> 'PublisherStatusActive'
    ) then p.url end as url,
  case when e.endpoint_id is null then t.owner
    else coalesce(p.owner, 'endpoint:' || p.publisher_id) end as owner,
  case when e.endpoint_id is null then coalesce(t.account, t.owner)
    else coalesce(p.owner, 'endpoint:' || p.publisher_id) end as account,
  case when e.endpoint_id is null then t.kind else 'endpoint' end as kind,
  case when e.endpoint_id is not null then jsonb_build_object('id', e.endpoint_id,
    'subjectId', e.subject_id, 'data', e.data, 'at', e.created_at) end as endpoint
from event e
left join task t on t.id = coalesce(e.subject_id, e.task_id)
left join endpoint p on p.id = e.endpoint_id;

create or replace function queue_first_try() returns trigger language plpgsql as $$
begin
  if new.endpoint_id is null then
    insert into first_try (event_id, task_id, sequence, account, host)
    select new.id, new.task_id, new.sequence, coalesce(t.account, t.owner), host_of(t.webhook_url)
    from task t
    where t.id = new.task_id;
  else
    insert into first_try (event_id, task_id, sequence, account, host)
    select new.id, new.task_id, new.sequence, coalesce(p.owner, 'endpoint:' || p.publisher_id),
      host_of(p.url)
    from endpoint p
    where p.id = new.endpoint_id;
  end if;
  return null;
end $$;

create function chain_of(endpoint_id uuid, subject_id uuid) returns uuid
language sql immutable strict parallel safe
return encode(substring(sha256(uuid_send(endpoint_id) || uuid_send(subject_id)) for 16), 'hex')::uuid;

create function tell_publisher(publisher text, type text, subject uuid, told jsonb) returns void
language plpgsql as $$
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
      jsonb_build_object('publisher_id', publisher) || jsonb_strip_nulls(told)
    from event where task_id = e.chain;
  end loop;
end $$;

-- An id of a user, unless it holds an e-mail address.
create function shown_user(id text) returns text language sql immutable parallel safe
return case when id !~ '[^\s@]@[^\s@]' then id end;

-- Looks first whether an endpoint wants it: findings are many.
create function tell_version(type text, of_version uuid, more jsonb) returns void language plpgsql as $$
begin
  perform tell_publisher(n.publisher_id, type, v.id, jsonb_build_object('node_id', v.node_id,
    'version_id', v.id, 'version', v.version, 'status', v.status, 'status_reason', v.status_reason,
    'findings', case when type = 'version.flagged' then (
      -- the first fifty, without the lines of code: the route of findings has all
      select coalesce(jsonb_agg(to_jsonb(f)), '[]')
      from (
        select issue_type, severity, file_path, line_number, message
        from finding where version_id = v.id
        order by severity <> 'high', severity <> 'medium', scanner, position
        limit 50
      ) f
    ) end) || more)
  from version v
  join node n on n.id = v.node_id
  where v.id = of_version and exists (
    select from endpoint p
    where p.publisher_id = n.publisher_id and p.status = 'enabled' and type = any(p.events)
  );
end $$;

-- `moveVersion` and `putArchive` change the row.
create function tell_version_move() returns trigger language plpgsql as $$
begin
  perform tell_version(case when old.status = new.status then 'version.received'
    else 'version.' || lower(replace(new.status, 'NodeVersionStatus', '')) end, new.id, '{}');
  return null;
end $$;

-- step
create trigger version_told after update of status, archive_state on version for each row
  when (old.status <> new.status and new.status <> 'NodeVersionStatusPending'
    or old.status = new.status and old.archive_state = 'awaiting' and new.archive_state = 'received')
  execute function tell_version_move();

-- `insertReview` and `closeReview`.
create function tell_review() returns trigger language plpgsql as $$
begin
  perform tell_version(case when new.closed_at is null then 'review.requested' else 'review.decided' end,
    new.version_id, jsonb_build_object('review_id', new.id));
  return null;
end $$;

-- step
create trigger review_requested_told after insert on review_request for each row
  execute function tell_review();
create trigger review_decided_told after update of closed_at on review_request for each row
  when (old.closed_at is null and new.closed_at is not null)
  execute function tell_review();

-- `insertPersonalAccessToken`, `insertExchangedToken`, and whatever revokes a token.
create function tell_token() returns trigger language plpgsql as $$
begin
  perform tell_publisher(new.publisher_id,
    case when new.revoked_at is null then 'token.created' else 'token.revoked' end, new.id,
    jsonb_build_object('token_id', new.id, 'name', new.name, 'scope', new.scope,
      'node_id', new.node_id, 'trusted_publisher_id', new.trusted_publisher_id,
      'created_by', shown_user(new.created_by), 'expires_at', new.expires_at));
  return null;
end $$;

-- step
create trigger token_created_told after insert on personal_access_token for each row
  execute function tell_token();
create trigger token_revoked_told after update of revoked_at on personal_access_token for each row
  when (old.revoked_at is null and new.revoked_at is not null)
  execute function tell_token();

-- `putMember`, `removeMember` and `insertPublisher`.
create function tell_member() returns trigger language plpgsql as $$
declare
  m constant publisher_member := case when tg_op = 'DELETE' then old else new end;
begin
  perform tell_publisher(m.publisher_id,
    case tg_op when 'INSERT' then 'member.added' when 'UPDATE' then 'member.changed' else 'member.removed' end,
    m.id, jsonb_build_object('member_id', m.id, 'user_id', shown_user(m.user_id), 'role', m.role,
      'previous_role', case when tg_op = 'UPDATE' then old.role end));
  return null;
end $$;

-- step
create trigger member_told after insert or delete on publisher_member for each row
  execute function tell_member();
create trigger member_changed_told after update of role on publisher_member for each row
  when (old.role <> new.role)
  execute function tell_member();
