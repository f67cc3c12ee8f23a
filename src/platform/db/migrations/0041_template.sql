-- Templates of an operator that are kinds of their own. Core workers write what their folder has; apis read it, and every task
-- keeps the row with which it was made. So rows stay: there is one for each graph that a template has ever had.

create table template (
  id integer generated always as identity primary key,
  -- without the folder
  name text not null,
  -- SHA-256 of `content`
  digest text not null,
  -- marks, graph, result node, and values of choices
  content json not null,
  -- members of the body by name and in order, as JSON Schemas: what instances say of the marked inputs
  members json not null,
  -- when it last became the one of its name
  at timestamptz not null default clock_timestamp(),
  removed_at timestamptz,
  unique (name, digest)
);
create index template_current on template (name) where removed_at is null;

-- No foreign key: each insert of any task would pay for it, and no row of `template` is ever removed.
-- step
alter table task add column template_id integer;
