-- An event with where it is sent, as 0047 and 0052 have it together: for a task, an endpoint with its format, or a batch.
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
    'subjectId', e.subject_id, 'data', e.data, 'at', e.created_at, 'format', p.format) end as endpoint
from event e
left join task t on t.id = coalesce(e.subject_id, e.task_id)
left join endpoint p on p.id = e.endpoint_id
left join bulk b on e.endpoint_id is null and b.id = e.subject_id;
