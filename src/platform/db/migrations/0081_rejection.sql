-- What the caller reads once every instance has rejected a value of a task: members of its body, and the rule of each.
alter table placement add column rejection text;
