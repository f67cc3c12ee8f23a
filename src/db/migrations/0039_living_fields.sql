-- Pictures that a publisher has sent lie in the store, by an id of their own; one counts while the address beside it is null.

alter table node add column icon_picture uuid, add column banner_picture uuid;
alter table publisher add column logo_picture uuid;

-- As in 0032, with the picture.
create or replace trigger publisher_changed before update on publisher for each row
  when ((old.name, old.description, old.logo, old.logo_picture, old.source_code_repo, old.website, old.support,
      old.status)
    is distinct from (new.name, new.description, new.logo, new.logo_picture, new.source_code_repo, new.website,
      new.support, new.status))
  execute function note_publisher_change();

-- `listUnknownPictures` asks by these which files of the store nobody names.
-- step alone
create index concurrently node_icon_picture on node (icon_picture) where icon_picture is not null;

-- step alone
create index concurrently node_banner_picture on node (banner_picture) where banner_picture is not null;

-- step alone
create index concurrently publisher_logo_picture on publisher (logo_picture) where logo_picture is not null;
