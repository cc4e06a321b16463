"""The fixture `ur` of the plugin, in a test of somebody's own."""


def test_the_mark_chooses_the_controller(pytester):
    pytester.makepyfile(
        """
        import pytest

        @pytest.mark.ur("3.15", model="ur10", q=[0.1, -1.5, -1.5, -1.5, 1.5, 0.0])
        def test_marked(ur):
            assert (ur.model, ur.q[0]) == ("ur10", 0.1) and ur.software.startswith("3.15")

        def test_plain(ur):
            assert ur.model == "ur5e" and ur.port(30004) == ur.port_base + 5
        """
    )
    pytester.runpytest().assert_outcomes(passed=2)
