-- Systems and accelerators are compared by what people type: `Microsoft :: Windows`, `Windows 11` and `win32` are one.

-- The names of a text in small letters; its last part where none is known. `any` is what runs everywhere.
create function platform_key(given text) returns text[]
language sql immutable parallel safe strict
return case
  when given ~ 'independent|cross.?platform|^(any|all)$' then '{any}'
  when given ~ '\m(windows|win32|win64|win\M|microsoft)' then '{windows}'
  when given ~ '\m(mac ?os|os ?x|osx|darwin|macintosh|mac)(\M|\d)' then '{macos}'
  when given ~ '\m(linux|ubuntu|debian|fedora|centos)' then '{linux}'
  when given ~ '\m(posix|unix)$' then '{linux,macos}'
  when given ~ 'cuda|\mnvidia' then '{cuda}'
  when given ~ 'rocm|\mamd\M|\mhip\M' then '{rocm}'
  when given ~ 'direct ?ml' then '{directml}'
  when given ~ '\m(mps|metal|apple)\M' then '{mps}'
  when given ~ '\m(xpu|oneapi|intel)\M' then '{xpu}'
  when given ~ '\m(npu|ascend)\M' then '{npu}'
  else array[btrim(regexp_replace(given, '^.*::', ''))]
end;

-- Those of a list. One that is empty says that it runs everywhere.
create function platform_keys(given text[]) returns text[]
language sql immutable parallel safe strict
return (
  select coalesce(array_agg(distinct key), '{any}')
  from unnest(given) name cross join lateral unnest(platform_key(lower(name))) key
);

-- The columns `os_keys` and `accelerator_keys` stay, because apis of the release before read them; no table is rewritten.
-- step alone
create index concurrently node_platform_os on node
  using gin (platform_keys(supported_os)) with (fastupdate = off);

-- step alone
create index concurrently node_platform_accelerators on node
  using gin (platform_keys(supported_accelerators)) with (fastupdate = off);
