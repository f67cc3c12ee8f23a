-- A key or token that ends soon is warned of once, by an event for the endpoints of its owner or publisher.
alter table api_key add column warned_at timestamptz;

-- step
alter table personal_access_token add column warned_at timestamptz;

-- step alone
create index concurrently api_key_unwarned on api_key (expires_at)
  where warned_at is null and revoked_at is null and expires_at is not null;

-- step alone
create index concurrently personal_access_token_unwarned on personal_access_token (expires_at)
  where warned_at is null and revoked_at is null and expires_at is not null;

-- step
-- As `record_publisher_event` (0069), for the endpoints of an owner: of what is no task.
create function record_owner_event(of_owner text, type text, subject uuid, facts jsonb) returns void language plpgsql as $$
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
$$;
