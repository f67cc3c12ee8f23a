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

-- step
-- Texts of a member in all languages that are used (`translationWarnings` names the others).
create function translated_texts(translations jsonb, member text) returns text[]
language sql immutable parallel safe
return (
  select coalesce(array_agg(texts ->> member), '{}')
  from jsonb_each(translations) as t (tag, texts)
  where tag ~* '^([a-z]{2,3}|[a-z]{5,8})(-[a-z0-9]{1,8})*$'
);

-- Searches find translated names among the tags, descriptions among the descriptions. A trigger makes the words from now on:
-- another expression of a generated column would have the whole table written again.
alter table node alter column words drop expression;

create function set_node_words() returns trigger
language plpgsql
as $$
begin
  new.words = node_words(new.id, new.name, new.tags || translated_texts(new.translations, 'name'), new.author,
    concat_ws(' ', new.description, array_to_string(translated_texts(new.translations, 'description'), ' ')));
  return new;
end
$$;

-- `insertNodeRow` and `setNodeFields` change these; so does an api of the release before.
create trigger node_words_set before insert or update of name, author, description, tags, translations on node
  for each row execute function set_node_words();

-- step alone
update node set translations = translations where translations is not null;

-- step
-- SPDX id of the license in the archive of a version, and of a node's latest one.
alter table version add column license_id text;
alter table node add column license_id text;

create function note_latest_license() returns trigger
language plpgsql
as $$
begin
  new.license_id = (select license_id from version where id = new.latest_version_id);
  return new;
end
$$;

-- `updateLatestVersion` changes it; so does an api of the release before. `putLicense` writes that of a version which is the
-- latest already.
create trigger node_license_set before update on node for each row
  when (old.latest_version_id is distinct from new.latest_version_id) execute function note_latest_license();

-- step alone
create index concurrently node_license on node (lower(license_id)) where license_id is not null;
