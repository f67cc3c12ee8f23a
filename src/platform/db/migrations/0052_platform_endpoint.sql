-- Webhook subscriptions of those who run the service. Their events go the way of all others; those of the registry and of
-- breakers are written by triggers, so that no statement can forget them.

alter table endpoint add column format text not null default 'json' check (format in ('json', 'slack'));

-- What is notified once when it begins: a queue that is old, a store that is nearly full. `at`: since when, or until when
-- workflows were read.
create table notified_condition (
  name text primary key,
  at timestamptz not null default clock_timestamp()
);

-- An event with where it is sent: url is null where nobody is to be told any more.
create or replace view told_event as
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
    'subjectId', e.subject_id, 'data', e.data, 'at', e.created_at, 'format', p.format) end as endpoint
from event e
left join task t on t.id = coalesce(e.subject_id, e.task_id)
left join endpoint p on p.id = e.endpoint_id;

create function tell_platform(type text, subject uuid, told jsonb) returns void
language plpgsql as $$
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
      jsonb_strip_nulls(told)
    from event where task_id = e.chain;
  end loop;
end $$;

-- A subject that has no id of its own.
create function named_subject(name text) returns uuid language sql immutable strict parallel safe
return encode(substring(sha256(convert_to(name, 'UTF8')) for 16), 'hex')::uuid;

-- `transitionVersion` flags; `insertReview` and `insertReport` insert; `countEngineFailure` opens.
create function tell_platform_of() returns trigger language plpgsql as $$
begin
  if tg_table_name = 'version' then
    perform tell_platform('version.flagged', new.id, jsonb_build_object('node_id', new.node_id,
      'version', new.version, 'version_id', new.id, 'reason', new.status_reason));
  elsif tg_table_name = 'review_request' then
    perform tell_platform('review.requested', v.id, jsonb_build_object('node_id', v.node_id,
      'version', v.version, 'version_id', v.id, 'review_id', new.id))
    from version v where v.id = new.version_id;
  elsif tg_table_name = 'node_report' then
    perform tell_platform('report.made', new.id, jsonb_build_object('node_id', new.node_id,
      'reason', new.reason, 'report_id', new.id));
  else
    perform tell_platform(case when new.opened_at is null then 'breaker.closed' else 'breaker.opened' end,
      named_subject(new.scope), jsonb_build_object('engine', substring(new.scope from 8), 'failures',
      nullif(new.failures, 0)));
  end if;
  return null;
end $$;

-- step
create trigger version_flagged_told_platform after update of status on version for each row
  when (old.status <> new.status and new.status = 'NodeVersionStatusFlagged')
  execute function tell_platform_of();

-- step
create trigger review_requested_told_platform after insert on review_request for each row
  execute function tell_platform_of();

-- step
create trigger report_told_platform after insert on node_report for each row
  execute function tell_platform_of();

-- step
create trigger breaker_inserted_told_platform after insert on breaker for each row
  when (new.opened_at is not null)
  execute function tell_platform_of();
create trigger breaker_told_platform after update on breaker for each row
  when ((old.opened_at is null) <> (new.opened_at is null))
  execute function tell_platform_of();
