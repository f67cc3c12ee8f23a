-- Frames of an input that is an animation, of which an image engine renders the first; null of any other.
alter table task_input add column frames integer;
