-- Engines that speak the HTTP API of cog: their instances, and what they say of the predictions that placements are there.

alter table instance
  -- engine of ENGINES_HTTP that has it; null: an instance of ComfyUI
  add column engine text;

-- step

alter table placement
  -- when its request was begun to be sent; null: the engine knows nothing of it
  add column sent_at timestamptz,
  -- when the engine last said something of it
  add column heard_at timestamptz,
  -- end of what it has printed
  add column logs text,
  -- the prediction as it ended, which the next worker goes on with; null again once it is cleaned up
  add column prediction text;
