CREATE TABLE `accounts` (
	`number` integer PRIMARY KEY NOT NULL,
	`id` text NOT NULL,
	`name` text NOT NULL,
	`active` integer NOT NULL,
	`created_at` integer NOT NULL
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `accounts_id_unique` ON `accounts` (`id`);
--> statement-breakpoint
CREATE UNIQUE INDEX `accounts_name_unique` ON `accounts` (`name`);
--> statement-breakpoint
CREATE TABLE `keys` (
	`number` integer PRIMARY KEY NOT NULL,
	`account` integer NOT NULL,
	`id` text NOT NULL,
	`digest` blob NOT NULL,
	`prefix` text NOT NULL,
	`label` text,
	`created_at` integer NOT NULL,
	`revoked_at` integer,
	FOREIGN KEY (`account`) REFERENCES `accounts`(`number`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `keys_id_unique` ON `keys` (`id`);
--> statement-breakpoint
CREATE UNIQUE INDEX `keys_digest_unique` ON `keys` (`digest`);
--> statement-breakpoint
CREATE INDEX `keys_by_account` ON `keys` (`account`);
--> statement-breakpoint
CREATE TABLE `leads` (
	`account` integer NOT NULL,
	`identified_at` integer NOT NULL,
	`uuid` blob NOT NULL,
	`pixel` integer NOT NULL,
	`state` text,
	`city_key` text,
	`has_email` integer NOT NULL,
	`doc` text NOT NULL,
	`id` text GENERATED ALWAYS AS (json_extract("doc", '$.id')) VIRTUAL,
	`pixel_id` text GENERATED ALWAYS AS (json_extract("doc", '$.pixel_id')) VIRTUAL,
	`name` text GENERATED ALWAYS AS (json_extract("doc", '$.name')) VIRTUAL,
	`email` text GENERATED ALWAYS AS (json_extract("doc", '$.email')) VIRTUAL,
	`verified_email` text GENERATED ALWAYS AS (json_extract("doc", '$.verified_email')) VIRTUAL,
	`phone` text GENERATED ALWAYS AS (json_extract("doc", '$.phone')) VIRTUAL,
	`company` text GENERATED ALWAYS AS (json_extract("doc", '$.company')) VIRTUAL,
	`city` text GENERATED ALWAYS AS (json_extract("doc", '$.city')) VIRTUAL,
	`gender` text GENERATED ALWAYS AS (json_extract("doc", '$.gender')) VIRTUAL,
	`age_range` text GENERATED ALWAYS AS (json_extract("doc", '$.age_range')) VIRTUAL,
	`income_range` text GENERATED ALWAYS AS (json_extract("doc", '$.income_range')) VIRTUAL,
	`net_worth` text GENERATED ALWAYS AS (json_extract("doc", '$.net_worth')) VIRTUAL,
	`marital_status` text GENERATED ALWAYS AS (json_extract("doc", '$.marital_status')) VIRTUAL,
	`homeowner` text GENERATED ALWAYS AS (json_extract("doc", '$.homeowner')) VIRTUAL,
	`children` text GENERATED ALWAYS AS (json_extract("doc", '$.children')) VIRTUAL,
	`page_url` text GENERATED ALWAYS AS (json_extract("doc", '$.page_url')) VIRTUAL,
	`referrer` text GENERATED ALWAYS AS (json_extract("doc", '$.referrer')) VIRTUAL,
	`traffic_source` text GENERATED ALWAYS AS (json_extract("doc", '$.traffic_source')) VIRTUAL,
	PRIMARY KEY(`account`, `identified_at`),
	FOREIGN KEY (`account`) REFERENCES `accounts`(`number`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`pixel`) REFERENCES `pixels`(`number`) ON UPDATE no action ON DELETE no action
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE UNIQUE INDEX `leads_by_uuid` ON `leads` (`account`,`uuid`);
--> statement-breakpoint
CREATE INDEX `leads_by_email` ON `leads` (`account`,`has_email`,`identified_at`);
--> statement-breakpoint
CREATE INDEX `leads_by_pixel` ON `leads` (`account`,`pixel`,`has_email`,`identified_at`);
--> statement-breakpoint
CREATE INDEX `leads_by_state` ON `leads` (`account`,`state`,`has_email`,`identified_at`);
--> statement-breakpoint
CREATE INDEX `leads_by_city` ON `leads` (`account`,`city_key`,`has_email`,`identified_at`);
--> statement-breakpoint
CREATE INDEX `leads_by_pixel_state` ON `leads` (`account`,`pixel`,`state`,`has_email`,`identified_at`);
--> statement-breakpoint
CREATE INDEX `leads_by_pixel_city` ON `leads` (`account`,`pixel`,`city_key`,`has_email`,`identified_at`);
--> statement-breakpoint
CREATE INDEX `leads_by_state_city` ON `leads` (`account`,`state`,`city_key`,`has_email`,`identified_at`);
--> statement-breakpoint
CREATE INDEX `leads_by_pixel_state_city` ON `leads` (`account`,`pixel`,`state`,`city_key`,`has_email`,`identified_at`);
--> statement-breakpoint
CREATE TABLE `pixels` (
	`number` integer PRIMARY KEY NOT NULL,
	`account` integer NOT NULL,
	`id` text NOT NULL,
	`status` text NOT NULL,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`account`) REFERENCES `accounts`(`number`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `pixels_by_id` ON `pixels` (`account`,`id`);
--> statement-breakpoint
CREATE TABLE `usage` (
	`key` integer NOT NULL,
	`day` text NOT NULL,
	`requests` integer NOT NULL,
	PRIMARY KEY(`key`, `day`),
	FOREIGN KEY (`key`) REFERENCES `keys`(`number`) ON UPDATE no action ON DELETE no action
) STRICT, WITHOUT ROWID;
