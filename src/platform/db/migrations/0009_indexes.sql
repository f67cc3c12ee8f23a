-- Indexes of sweeps and of the redelivery of an owner's events.
-- earlier: 356f91df3a707a3c2a48f7c0167214aa0473025dae0d579720e313350eec09ad

-- step alone
create index concurrently event_exhausted_by_task on event (task_id, created_at) where state = 'exhausted';

-- step alone
drop index concurrently if exists event_exhausted;

-- step alone
create index concurrently version_to_sweep on version (upload_started_at) where upload_started_at is not null;
