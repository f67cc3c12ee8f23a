-- Tasks for which instances of ComfyUI report device errors, and prompts that this service interrupted itself.

alter table placement
  -- it was interrupted because its events had stopped; a worker that dies there leaves the interrupt to the next one
  add column interrupted_at timestamptz;

-- step

alter table instance
  -- task whose prompt it last reported a device error for; null after a run without one, and after a restart
  add column broken_by uuid;
