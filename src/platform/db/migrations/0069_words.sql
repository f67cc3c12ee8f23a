-- Names in the field's words: attempt, transition, event, max. The upgrade to 0.3.0 has a stop, so no older code runs beside them.

alter view told_event rename to event_webhook;

-- step
alter table first_try rename to first_attempt;
alter table first_attempt rename constraint first_try_pkey to first_attempt_pkey;
alter table first_attempt rename constraint first_try_event_id_fkey to first_attempt_event_id_fkey;
alter index first_try_by_account rename to first_attempt_by_account;
alter index first_try_by_host rename to first_attempt_by_host;
alter index first_try_by_task rename to first_attempt_by_task;
alter function queue_first_try() rename to queue_first_attempt;
alter function leave_first_try() rename to leave_first_attempt;

create or replace function queue_first_attempt() returns trigger language plpgsql as $$
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
$$;

create or replace function leave_first_attempt() returns trigger language plpgsql as $$
begin
  delete from first_attempt where event_id = new.id;
  -- the events behind it have waited for it
  if new.state <> 'pending' then
    update first_attempt set due_at = clock_timestamp()
    where task_id = new.task_id and sequence > new.sequence and due_at > clock_timestamp();
  end if;
  return null;
end
$$;

-- step
alter trigger event_enters_first_try on event rename to event_enters_first_attempt;
alter trigger event_leaves_first_try on event rename to event_leaves_first_attempt;

-- step
alter table version_move rename to version_transition;
alter table version_transition rename constraint version_move_pkey to version_transition_pkey;
alter table version_transition rename constraint version_move_version_id_fkey to version_transition_version_id_fkey;
alter index version_move_by_version rename to version_transition_by_version;
alter trigger version_move_decision on version_transition rename to version_transition_decision;

alter function note_content_decision(uuid, text) rename to record_content_decision;
alter function note_late_content() rename to record_late_content;
alter function note_version_decision() rename to record_version_decision;
alter function note_latest_license() rename to record_latest_license;
alter function note_node_listing() rename to record_node_listing;
alter function note_node_text() rename to record_node_text;
alter function note_publisher_change() rename to record_publisher_change;

create or replace function record_late_content() returns trigger language plpgsql as $$
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
$$;

create or replace function record_version_decision() returns trigger language plpgsql as $$
begin
  perform record_content_decision(new.version_id, new.to_status);
  return null;
end
$$;

-- step
alter table outbox rename tries to attempts;
alter table outbox rename next_try_at to next_attempt_at;

create or replace function send_signal(to_workflow text, name text) returns void language sql as $$
  insert into outbox (kind, workflow_id, signal_name, next_attempt_at)
  values ('signal', to_workflow, name, clock_timestamp());
  select pg_notify('kiln_changes', 'outbox');
$$;

-- step
alter table task rename tries to attempts;

create or replace function count_usage() returns trigger language plpgsql as $$
declare
  begun timestamptz := new.claimed_at;
  waited_in integer := usage_bucket(extract(epoch from coalesce(begun, new.ended_at) - new.created_at));
  ran_in integer := coalesce(usage_bucket(extract(epoch from new.ended_at - begun)), 0);
  state text := task_state(new.status, new.error_code);
  used_ms bigint;
  made bigint;
  kept bigint;
begin
  select coalesce(sum(greatest(0, extract(epoch from ends - at) * 1000)), 0) into used_ms
  from (
    select (attempt->>'at')::timestamptz as at, coalesce((attempt->>'failed_at')::timestamptz,
      lead((attempt->>'at')::timestamptz) over (order by n), new.ended_at) as ends
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
$$;

create or replace function charge_task() returns trigger language plpgsql as $$
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
$$;

-- step
-- Parameters of a function cannot be renamed.
alter function tell_platform_of() rename to record_platform_event_of;
alter function tell_member() rename to record_member_event;
alter function tell_token() rename to record_token_event;
alter function tell_review() rename to record_review_event;
alter function tell_version(text, uuid, jsonb) rename to record_version_event;
alter function tell_version_move() rename to record_transition_event;

create function record_platform_event(type text, subject uuid, facts jsonb) returns void language plpgsql as $$
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
$$;

create function record_publisher_event(publisher text, type text, subject uuid, facts jsonb) returns void language plpgsql as $$
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
$$;

create or replace function record_platform_event_of() returns trigger language plpgsql as $$
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
$$;

create or replace function record_member_event() returns trigger language plpgsql as $$
declare
  m constant publisher_member := case when tg_op = 'DELETE' then old else new end;
begin
  perform record_publisher_event(m.publisher_id,
    case tg_op when 'INSERT' then 'member.added' when 'UPDATE' then 'member.changed' else 'member.removed' end,
    m.id, jsonb_build_object('member_id', m.id, 'user_id', shown_user(m.user_id), 'role', m.role,
      'previous_role', case when tg_op = 'UPDATE' then old.role end));
  return null;
end
$$;

create or replace function record_token_event() returns trigger language plpgsql as $$
begin
  perform record_publisher_event(new.publisher_id,
    case when new.revoked_at is null then 'token.created' else 'token.revoked' end, new.id,
    jsonb_build_object('token_id', new.id, 'name', new.name, 'scope', new.scope,
      'node_id', new.node_id, 'trusted_publisher_id', new.trusted_publisher_id,
      'created_by', shown_user(new.created_by), 'expires_at', new.expires_at));
  return null;
end
$$;

create or replace function record_review_event() returns trigger language plpgsql as $$
begin
  perform record_version_event(case when new.closed_at is null then 'review.requested' else 'review.decided' end,
    new.version_id, jsonb_build_object('review_id', new.id));
  return null;
end
$$;

create or replace function record_version_event(type text, of_version uuid, more jsonb) returns void language plpgsql as $$
begin
  perform record_publisher_event(n.publisher_id, type, v.id, jsonb_build_object('node_id', v.node_id,
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
end
$$;

create or replace function record_transition_event() returns trigger language plpgsql as $$
begin
  perform record_version_event(case when old.status = new.status then 'version.received'
    else 'version.' || lower(replace(new.status, 'NodeVersionStatus', '')) end, new.id, '{}');
  return null;
end
$$;

drop function tell_platform(text, uuid, jsonb);
drop function tell_publisher(text, text, uuid, jsonb);

-- step
alter trigger breaker_inserted_told_platform on breaker rename to breaker_inserted_platform_event;
alter trigger breaker_told_platform on breaker rename to breaker_platform_event;

-- step
alter trigger report_told_platform on node_report rename to report_platform_event;

-- step
alter trigger token_created_told on personal_access_token rename to token_created_event;
alter trigger token_revoked_told on personal_access_token rename to token_revoked_event;

-- step
alter trigger member_told on publisher_member rename to member_event;
alter trigger member_changed_told on publisher_member rename to member_changed_event;

-- step
alter trigger review_requested_told on review_request rename to review_requested_event;
alter trigger review_decided_told on review_request rename to review_decided_event;
alter trigger review_requested_told_platform on review_request rename to review_requested_platform_event;

-- step
alter trigger version_told on version rename to version_event;
alter trigger version_flagged_told_platform on version rename to version_flagged_platform_event;
