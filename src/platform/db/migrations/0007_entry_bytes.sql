-- Bytes of a value, told without reading it. A compressed one counts as what it may be at most: LZ4 packs 255 bytes into
-- one, and the longest list that a version holds takes a megabyte.
create function stored_bytes(value anyelement) returns integer
language sql stable parallel safe
as $$
  select case
    when value is null then 0
    when pg_column_compression(value) is null then pg_column_size(value)
    else 255 * least(pg_column_size(value), 4096)
  end
$$;

-- The length of a text is stored beside it.
create function stored_bytes(value text) returns integer
language sql immutable parallel safe
return coalesce(octet_length(value), 0);
