CREATE TABLE `builds` (
	`number` integer PRIMARY KEY NOT NULL,
	`build` text NOT NULL
) STRICT;
