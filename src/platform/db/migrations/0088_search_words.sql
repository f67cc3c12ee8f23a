-- Searches find texts as people write them: Chinese, Japanese and Korean by parts, names with and without their blanks, packs
-- by their publisher and by their host nodes. The words of before stay words, so an api of the release before finds all that it
-- found, and from the last step on what is new, because it asks by the same function.

-- Spellings of one text become one: widths and compositions, katakana and hiragana; marks between sentences are blanks.
create function search_text(given text) returns text
language sql immutable parallel safe
return case when octet_length(given) = length(given) then given else translate(normalize(given, nfkc),
  'ァアィイゥウェエォオカガキギクグケゲコゴサザシジスズセゼソゾタダチヂッツヅテデトドナニヌネノハバパヒビピフブプヘベペホボポマミムメモャヤュユョヨラリルレロヮワヰヱヲンヴヵヶヽヾ、。・「」『』【】〈〉《》〔〕',
  'ぁあぃいぅうぇえぉおかがきぎくぐけげこごさざしじすずせぜそぞただちぢっつづてでとどなにぬねのはばぱひびぴふぶぷへべぺほぼぽまみむめもゃやゅゆょよらりるれろゎわゐゑをんゔゕゖゝゞ               ') end;

-- A run of letters that are written without blanks: Han, kana, bopomofo and Hangul.
create function unspaced_run() returns text
language sql immutable parallel safe
return '[\u1100-\u11ff\u3005-\u3007\u3041-\u312f\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff\U00020000-\U000323af]+';

-- Functions in SQL would be planned again for each call, which took ten times as long as they run.

-- Each two such letters that follow each other, and the last letter of each run.
create function unspaced_parts(given text) returns text[]
language plpgsql immutable parallel safe
as $$
begin
  return (
    select coalesce(array_agg(part), '{}')
    from regexp_matches(given, unspaced_run(), 'g') run, lateral (
      select letter || lead(letter, 1, '') over (order by place) as part
      from unnest(string_to_array(run[1], null)) with ordinality as l (letter, place)
    ) parts
  );
end
$$;

-- Cut as in 0004.
create function cut_words(given text) returns text[]
language sql immutable parallel safe
return regexp_split_to_array(given, '[-_./\s]+') || regexp_split_to_array(given, '[^[:alnum:]]+')
  || regexp_split_to_array(
    regexp_replace(
      regexp_replace(given, '([[:lower:][:digit:]])([[:upper:]])', '\1 \2', 'g'),
      '([[:upper:]])([[:upper:]][[:lower:]])', '\1 \2', 'g'),
    '[^[:alnum:]]+');

-- As in 0004, with the parts of what has no blanks.
create or replace function search_words(given text) returns text[]
language plpgsql immutable parallel safe
as $$
begin
  return (
    select coalesce(array_agg(left(lower(word), 200)), '{}')
    from unnest(regexp_split_to_array(search_text(given), '\s+')) whole,
      -- Most are in lower case and whole, and need not be cut.
      unnest(case when whole ~ '^[[:lower:][:digit:]]*$' then array[whole]
        when whole !~ unspaced_run() then whole || cut_words(whole)
        else whole || unspaced_parts(whole) || cut_words(regexp_replace(whole, unspaced_run(), ' ', 'g')) end) word
    where word <> ''
  );
end
$$;

-- A name without blanks and marks, from each of its first words on: `image-upscaler` is `imageupscaler`.
create function joined_words(given text) returns text[]
language plpgsql immutable parallel safe
as $$
begin
  return (
    select coalesce(array_agg(left(joined, 200)), '{}')
    from (
      select place, string_agg(word, '') over (order by place rows between current row and unbounded following) as joined
      from unnest(regexp_split_to_array(lower(search_text(given)), '[^[:alnum:]]+')) with ordinality as w (word, place)
      where word <> ''
    ) joined
    where place <= 8
  );
end
$$;

-- As in 0004, and id and name as one word each. A tsvector holds a megabyte: the bound keeps all words of a node below.
create or replace function node_words(id text, name text, tags text[], author text, description text)
returns tsvector
language plpgsql immutable parallel safe
as $$
begin
  return (
    select coalesce(string_agg(quote_lexeme(sort || word), ' '), '')
    from (
      select unnest(search_words(id || ' ' || name) || joined_words(id) || joined_words(name)) as word,
        array['a', 'b', 'c'] as sorts
      union all
      select unnest(search_words(left(search_text(array_to_string(tags || author, ' ')), 25000))), array['b', 'c']
      union all
      select unnest(search_words(left(search_text(description), 25000))), array['c']
    ) words, unnest(sorts) sort
  )::tsvector;
end
$$;

-- The words of names of host nodes, with `d`. Each change of a node writes all its words into the index again, so that
-- these have a bound, which a thousand host nodes reach.
create function host_node_words(names text[]) returns tsvector
language plpgsql immutable parallel safe
as $$
begin
  return (
    select coalesce(string_agg(quote_lexeme('d' || word), ' '), '')
    from (
      select word, sum(octet_length(word)) over (order by place) as bytes
      from (
        select word, min(place) as place
        from unnest(search_words(left(array_to_string(names, ' '), 100000))) with ordinality as w (word, place)
        group by word
      ) own
    ) bounded
    where bytes <= 65536
  )::tsvector;
end
$$;

-- step
alter table current_host_node add column display_name text;

-- An api of the release before inserts the names alone.
create function set_display_name() returns trigger
language plpgsql
as $$
begin
  new.display_name = (
    select h.display_name from node n join host_node h on h.version_id = n.latest_version_id
    where n.id = new.node_id and h.host_node_name = new.name);
  return new;
end
$$;

create trigger current_host_node_named before insert on current_host_node for each row
  when (new.display_name is null) execute function set_display_name();

-- step
-- Those of sort `d`, which `set_node_words` takes into the words of the node.
alter table node_host_names add column words tsvector;

-- step
-- As in 0039, with the publisher among the tags, and the host nodes.
create or replace function set_node_words() returns trigger
language plpgsql
as $$
declare
  names text[] := (select array[id, name] from publisher where id = new.publisher_id);
  descriptions text[] := '{}';
begin
  if new.translations is not null then
    names = names || translated_texts(new.translations, 'name');
    descriptions = translated_texts(new.translations, 'description');
  end if;
  new.words = node_words(new.id, new.name, new.tags || names, new.author,
    concat_ws(' ', new.description, array_to_string(descriptions, ' ')))
    || coalesce((select words from node_host_names where node_id = new.id), '');
  return new;
end
$$;

-- As in 0014, but for the last step of this file: no api that goes on has counted what it changes.
create or replace function record_node_text() returns trigger
language plpgsql
as $$
begin
  insert into node_change (node_id, listed, id_lower, name_lower, words)
  select old.id, true, old.id_lower, old.name_lower, old.words
  from node_stats
  where node_id = old.id and listed
    and current_setting('kiln.renews_words', true) is distinct from 'on';
  return null;
end
$$;

-- `insertNodeRow`, `setNodeFields` and `transferNode` change these; whoever sets `words` to null has them made.
create or replace trigger node_words_set
  before insert or update of name, author, description, tags, translations, publisher_id, words on node
  for each row execute function set_node_words();

-- step
-- As in 0011, with the display names, and with the words of the nodes.
create or replace function settle_host_names() returns trigger
language plpgsql
as $$
begin
  insert into node_host_names (node_id, names, words)
  select node_id,
    string_agg(lower(concat_ws(E'\x01', name collate "default", display_name)), E'\x01' order by name),
    host_node_words(array_agg(concat_ws(' ', name, display_name) order by name))
  from current_host_node
  where node_id in (select node_id from changed)
  group by node_id
  on conflict (node_id) do update set names = excluded.names, words = excluded.words;
  delete from node_host_names h
  where node_id in (select node_id from changed)
    and not exists (select from current_host_node c where c.node_id = h.node_id);
  update node set words = null where id in (select node_id from changed);
  return null;
end
$$;

create trigger current_host_node_updated after update on current_host_node
  referencing new table as changed for each statement execute function settle_host_names();

-- step
create function renew_publisher_words() returns trigger
language plpgsql
as $$
begin
  perform from node where publisher_id = new.id order by id for no key update;
  update node set words = null where publisher_id = new.id;
  return null;
end
$$;

-- `setFields` of a publisher changes the name, which is among the words of its nodes.
create trigger publisher_renamed after update on publisher for each row
  when (old.name is distinct from new.name) execute function renew_publisher_words();

-- step alone
-- The nodes that were there before, a few at a time: whoever changes a node has its lock, too.
do $$
declare
  last text collate "C" := '';
  nodes text[];
begin
  perform set_config('kiln.renews_words', 'on', false);
  loop
    nodes := array(select id from node where id > last order by id limit 20 for no key update);
    exit when cardinality(nodes) = 0;
    -- The trigger renews the words of the nodes that have host nodes.
    update current_host_node c set display_name = h.display_name
    from node n left join version v on v.id = n.latest_version_id left join host_node h on h.version_id = v.id
    where n.id = any(nodes) and c.node_id = n.id and c.name = h.host_node_name;
    update node set words = null
    where id = any(nodes) and not exists (select from node_host_names where node_id = id and words is not null);
    last := nodes[cardinality(nodes)];
    commit;
  end loop;
  perform set_config('kiln.renews_words', '', false);
end $$;

-- step
-- The query of a search term in words of a sort: each of its pieces must start a word, or all of it without blanks and marks.
-- One of marks alone is looked for as it is; letters without blanks by their parts. In sort `d` the words of `c` count, too.
-- Null for a term without any. Its plan is made once: planning takes ten times as long as it runs.
create or replace function search_query(term text, sort text) returns tsquery
language plpgsql immutable parallel safe strict set plan_cache_mode = force_generic_plan
as $$
declare
  given text := lower(search_text(term));
begin
  return (
    with word as (
      select part as word, not (length(part) = 2 and part ~ unspaced_run()) as begins, false as joined
      from unnest(regexp_split_to_array(given, '\s+')) whole,
        unnest(case when whole ~ '^[-_./]*$' then array[whole] else regexp_split_to_array(
          regexp_replace(whole, '(' || unspaced_run() || ')', ' \1 ', 'g'), '[-_./\s]+') end) piece,
        unnest(case when piece ~ unspaced_run() then unspaced_parts(piece) else array[piece] end) part
      -- Where the parts are, their last letter is, too.
      where part <> '' and (length(part) > 1 or length(piece) = 1)
      union all
      select joined, true, true from regexp_replace(given, '[^[:alnum:]]+', '', 'g') joined where joined <> ''
    ), lexeme as (
      select joined, case when sort = 'd' then '(' || quote_lexeme('c' || left(word, 200)) || ending || ' | '
        || quote_lexeme('d' || left(word, 200)) || ending || ')' else quote_lexeme(sort || left(word, 200)) || ending end as lexeme
      from word, lateral (select case when begins then ':*' else '' end as ending) as e
    )
    select string_agg(lexeme, ' & ') filter (where not joined) || case when count(*) > 2
      then coalesce(' | ' || min(lexeme) filter (where joined), '') else '' end
    from lexeme
  )::tsquery;
end
$$;
