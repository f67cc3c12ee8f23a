-- Host nodes of the host itself, as `kiln operate host-nodes` reads them from what a host says of itself: no pack is needed for them.
create table built_in_host_node (
  name text collate "C" primary key
);
