-- Whether the host runs a host node without anything behind it; null: read before extractor 9, or reported without it.
alter table host_node add column output_node boolean;
