"""Properties draw the same examples at each run; JETTISON_FUZZ=n explores new ones (`strategies.law`)."""

from hypothesis import HealthCheck, settings

settings.register_profile(
    "steady", derandomize=True, database=None, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("steady")
