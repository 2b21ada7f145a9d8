-- Settings: names, types, defaults, limits, who may change them.
-- What the server starts with is a setting of its start where the server loads the library, and read again else.
SELECT name, vartype, unit, replace(context, 'postmaster', 'sighup') AS context, min_val, max_val, boot_val, enumvals
FROM pg_settings WHERE name LIKE 'hashgraph.%' ORDER BY name COLLATE "C";
SELECT name, short_desc FROM pg_settings WHERE name LIKE 'hashgraph.%' ORDER BY name COLLATE "C";

-- Try a value: what is shown afterwards, or the SQLSTATE.
CREATE FUNCTION try_setting(name text, value text) RETURNS text LANGUAGE plpgsql AS
$$
BEGIN
	PERFORM set_config(name, value, true);
	RETURN current_setting(name);
EXCEPTION WHEN OTHERS THEN
	RETURN 'error ' || SQLSTATE;
END
$$;
SELECT name, value, try_setting('hashgraph.' || name, value)
FROM (VALUES
	('enabled', 'off'), ('enabled', 'maybe'),
	('force', 'on'),
	('keep_memory', '0'), ('keep_memory', '-1'), ('keep_memory', '64MB'), ('keep_memory', '-2'),
	('backend', 'auto'), ('backend', 'cpu'), ('backend', 'CUDA'), ('backend', 'gpu'),
	('build', 'auto'), ('build', 'v1'), ('build', 'v2'), ('build', 'v3'),
	('probe', 'auto'), ('probe', 'standard'), ('probe', 'intersect'), ('probe', ''),
	('load_factor', '0.25'), ('load_factor', '16'), ('load_factor', '0.2'), ('load_factor', '16.5'),
	('load_factor', 'NaN'),
	('bins', '0'), ('bins', '1048576'), ('bins', '1048577'), ('bins', '-1'),
	('min_rows', '0'), ('min_rows', '1000000'), ('min_rows', '-1'),
	('gpu_memory_limit', '0'), ('gpu_memory_limit', '1GB'), ('gpu_memory_limit', '-1'),
	('gpu_wait_limit', '0'), ('gpu_wait_limit', '2s'), ('gpu_wait_limit', '-1'),
	('gpu_device', '-1'), ('gpu_device', '7'), ('gpu_device', '0, 2'), ('gpu_device', '0,1,2,3,4,5,6,7'), ('gpu_device', '-2'),
	('gpu_device', '1024'), ('gpu_device', '0,-1'), ('gpu_device', '-1,0'), ('gpu_device', '1,1'), ('gpu_device', '0,1,2,3,4,5,6,7,8'),
	('gpu_device', '0,'), ('gpu_device', '0 1'), ('gpu_device', ''), ('gpu_device', 'all'),
	-- in postgresql.conf alone
	('gpu_memory_budget', '1GB'), ('staging_size', '64MB'), ('gpu_idle_timeout', '1min'),
	('resident_gpu_memory', '1GB'),
	('device_program', '/bin/false'),
	-- none of ours
	('nonesuch', 'on')) AS t (name, value);

-- The prefix is reserved.
SET hashgraph.bnis = 4;

-- Any user may set what concerns one join; the program that is run is a superuser's to see.
CREATE ROLE regress_hashgraph_user;
SET ROLE regress_hashgraph_user;
SET hashgraph.enabled = off;
SET hashgraph.gpu_memory_limit = '1GB';
SHOW hashgraph.gpu_memory_limit;
\set VERBOSITY sqlstate
SHOW hashgraph.device_program;
\set VERBOSITY default
RESET ROLE;
RESET hashgraph.enabled;
RESET hashgraph.gpu_memory_limit;
DROP ROLE regress_hashgraph_user;
DROP FUNCTION try_setting;

-- EXPLAIN (SETTINGS) shows what shapes a plan.
SET hashgraph.min_rows = 7;
SET hashgraph.bins = 16;
SET hashgraph.gpu_memory_limit = '1GB';
CREATE FUNCTION explained_settings() RETURNS SETOF text LANGUAGE plpgsql AS
$$
DECLARE
	plan json;
BEGIN
	EXECUTE 'EXPLAIN (SETTINGS, COSTS OFF, FORMAT JSON) SELECT 1' INTO plan;
	RETURN QUERY SELECT key || ' = ' || value FROM json_each_text(plan -> 0 -> 'Settings')
		WHERE key IN ('hashgraph.min_rows', 'hashgraph.bins', 'hashgraph.gpu_memory_limit') ORDER BY 1;
END
$$;
SELECT * FROM explained_settings();
DROP FUNCTION explained_settings;
