-- Indexes of sweeps and of the redelivery of an owner's events.

create index event_exhausted_by_task on event (task_id, created_at) where state = 'exhausted';
drop index event_exhausted;

create index version_to_sweep on version (upload_started_at) where upload_started_at is not null;
