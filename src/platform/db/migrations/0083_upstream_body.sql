-- Members that an upstream takes beside those of the interface, by the path on which its tasks are made here.
create table upstream_body (
  path text primary key,
  members json not null
);
