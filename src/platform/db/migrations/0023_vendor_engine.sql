alter table task
  -- who renders it, chosen when it was made: `local`, or `vendor`, an upstream
  add column engine text not null default 'local',
  -- the upstream's id of it; there before the first poll
  add column upstream_id text;
