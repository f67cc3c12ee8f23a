-- Work on many tasks: a batch makes them from a file of requests, an operation acts on those that a filter finds. Either
-- goes through its items in order, one at a time. `next_index` moves in the transaction of the item's effect, so no item
-- takes effect twice, and whoever cancels the work knows which have.

create table bulk (
  id uuid primary key,
  kind text not null check (kind in ('batch', 'operation')),
  -- who asked, and whose tasks are made
  owner text not null,
  state text not null default 'preparing'
    check (state in ('preparing', 'running', 'done', 'cancelled', 'failed')),
  -- of a batch: file, labels and webhook URL; of an operation: action, filter and whether it is an admin's
  request jsonb not null,
  webhook_url text,
  -- items that are known; of an operation all of them once it works
  total integer not null default 0,
  next_index integer not null default 0,
  -- of a batch: the byte of its file at which the next request begins
  next_offset bigint not null default 0,
  -- of an operation that prepares: the page of the list that comes next
  cursor text,
  -- why it makes no progress for now; why it failed
  error jsonb,
  cancel_requested_at timestamptz,
  -- the counts of one that has ended
  counts jsonb,
  created_at timestamptz not null default clock_timestamp(),
  changed_at timestamptz not null default clock_timestamp(),
  ended_at timestamptz
);

create index bulk_by_owner on bulk (owner, kind, created_at desc, id desc);
create index bulk_open on bulk (id) where ended_at is null;
create index bulk_open_by_owner on bulk (owner) where ended_at is null;
create index bulk_by_end on bulk (ended_at);

create table bulk_item (
  bulk_id uuid not null references bulk (id) on delete cascade,
  index integer not null,
  -- the task that was made, or acted on
  task_id uuid,
  -- null: nothing was done yet
  outcome text check (outcome in ('done', 'rejected')),
  -- what it has brought: another task, redeliveries
  result jsonb,
  error jsonb,
  primary key (bulk_id, index)
);

-- step
-- The end of a batch is sent to the webhook URL that it names: its event has the batch in the place of the task.
create or replace view told_event as
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
    'subjectId', e.subject_id, 'data', e.data, 'at', e.created_at) end as endpoint
from event e
left join task t on t.id = coalesce(e.subject_id, e.task_id)
left join endpoint p on p.id = e.endpoint_id
left join bulk b on e.endpoint_id is null and b.id = e.subject_id;

create or replace function queue_first_try() returns trigger language plpgsql as $$
begin
  if new.endpoint_id is not null then
    insert into first_try (event_id, task_id, sequence, account, host)
    select new.id, new.task_id, new.sequence, coalesce(p.owner, 'endpoint:' || p.publisher_id),
      host_of(p.url)
    from endpoint p
    where p.id = new.endpoint_id;
  elsif new.subject_id is not null then
    insert into first_try (event_id, task_id, sequence, account, host)
    select new.id, new.task_id, new.sequence, b.owner, host_of(b.webhook_url)
    from bulk b
    where b.id = new.subject_id;
  else
    insert into first_try (event_id, task_id, sequence, account, host)
    select new.id, new.task_id, new.sequence, coalesce(t.account, t.owner), host_of(t.webhook_url)
    from task t
    where t.id = new.task_id;
  end if;
  return null;
end $$;
