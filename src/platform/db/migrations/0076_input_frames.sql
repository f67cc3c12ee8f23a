-- Number of frames of an input that is an animation: an image engine renders the first. Null of any other.
alter table task_input add column frames integer;
