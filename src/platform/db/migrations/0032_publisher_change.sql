-- Who keeps a copy of the nodes is told of what changes in their publishers, too: nodes show name, logo, status and more of
-- them. A publisher may have thousands of nodes with a dozen indexes each, so that the time stands here and not with them.
-- Null where nothing has changed since this was added. A trigger writes it, so that an api of the release before does so, too.

alter table publisher add column changed_at timestamptz;

create function note_publisher_change() returns trigger
language plpgsql
as $$
begin
  new.changed_at = greatest(clock_timestamp(), old.changed_at);
  return new;
end
$$;

-- `setFields` of a publisher and `transitionPublisher` change these, which `publisherMembers` shows in every node;
-- `isChangedSince` reads the time.
create trigger publisher_changed before update on publisher for each row
  when ((old.name, old.description, old.logo, old.source_code_repo, old.website, old.support, old.status)
    is distinct from (new.name, new.description, new.logo, new.source_code_repo, new.website, new.support, new.status))
  execute function note_publisher_change();

-- step alone
create index concurrently publisher_by_change on publisher (changed_at);
