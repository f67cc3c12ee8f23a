-- Webhook subscriptions have headers of their own, and choose among tasks.
alter table endpoint
  -- JSON, encrypted with SECRETS_KEYS; null: none
  add column headers text,
  add column header_names text[] not null default '{}',
  -- `key:value`: only tasks that have all of them
  add column labels text[] not null default '{}',
  -- only tasks of these kinds; empty: of all
  add column kinds text[] not null default '{}';

-- step
alter table attempt
  -- names of the headers of the subscription that it was sent with
  add column header_names text[];

-- step
-- An event with where it is sent, as 0057 has it, and the headers of a subscription.
create or replace view event_webhook as
select e.id, e.task_id, e.sequence, e.status, e.state, e.failures, e.next_attempt_at, t.family,
  case when e.endpoint_id is null then coalesce(t.webhook_url, b.webhook_url)
    when p.status = 'enabled' and not exists (
      select from publisher u where u.id = p.publisher_id and u.status <> 'PublisherStatusActive'
    ) then p.url end as url,
  case when e.endpoint_id is null then coalesce(t.owner, b.owner)
    else coalesce(p.owner, 'endpoint:' || p.publisher_id) end as owner,
  case when e.endpoint_id is null then coalesce(t.account, t.owner, b.owner)
    else coalesce(p.owner, 'endpoint:' || p.publisher_id) end as account,
  case when e.endpoint_id is not null then 'endpoint' else coalesce(t.kind, b.kind) end as kind,
  case when e.endpoint_id is not null or b.id is not null then jsonb_build_object('id', e.endpoint_id,
    'subjectId', e.subject_id, 'data', e.data, 'at', e.created_at, 'format', p.format,
    'headers', p.headers) end as endpoint
from event e
left join task t on t.id = coalesce(e.subject_id, e.task_id)
left join endpoint p on p.id = e.endpoint_id
left join bulk b on e.endpoint_id is null and b.id = e.subject_id;
