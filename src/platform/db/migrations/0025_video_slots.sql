-- Each move of a video task asks whether its owner has a free slot, and read all open tasks of the owner for that: 10,000 of
-- them, once for each.

-- step alone
create index concurrently task_with_slot on task (owner)
  where family = 'video' and ended_at is null and admitted_at is not null;
