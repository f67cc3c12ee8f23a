-- What searches by a term have counted need not be counted anew: for each node that was listed, hidden or given another
-- text, how it was before. A count that is known at a snapshot becomes the one of now by the nodes that were changed since.
-- Triggers write it, so that an api of the release before does so, too. Rows are removed after a day.
-- earlier: 4cc4005bd6749a11582a39cf010198144034b69d0cab70c627170b27b2a68795

create table node_change (
  -- drawn under the lock of the node's row: for one node the order of its changes
  id bigint generated always as identity primary key,
  -- of the change: tells whether a snapshot knows it
  xid xid8 not null default pg_current_xact_id(),
  at timestamptz not null default clock_timestamp(),
  node_id text collate "C" not null,
  -- before the change; the texts are null where it was not
  listed boolean not null,
  id_lower text collate "C",
  name_lower text,
  words tsvector
);

create index node_change_by_xid on node_change (xid);
create index node_change_by_time on node_change (at);

create function note_node_text() returns trigger
language plpgsql
as $$
begin
  insert into node_change (node_id, listed, id_lower, name_lower, words)
  select old.id, true, old.id_lower, old.name_lower, old.words
  from node_stats
  where node_id = old.id and listed;
  return null;
end
$$;

-- `setNodeFields` changes the texts; the counts of searches read the rows.
create trigger node_text_changed after update on node for each row
  when (old.name_lower is distinct from new.name_lower or old.words is distinct from new.words)
  execute function note_node_text();

create function note_node_listing() returns trigger
language plpgsql
as $$
begin
  if tg_op = 'UPDATE' and old.listed then
    insert into node_change (node_id, listed, id_lower, name_lower, words)
    select id, true, id_lower, name_lower, words from node where id = old.node_id;
  else
    insert into node_change (node_id, listed) values (new.node_id, false);
  end if;
  return null;
end
$$;

-- `insertNodeRow`, `moveNode` and a ban or unban of the publisher write these.
create trigger node_stats_inserted after insert on node_stats for each row
  execute function note_node_listing();
create trigger node_stats_listed after update on node_stats for each row
  when (old.listed <> new.listed) execute function note_node_listing();
