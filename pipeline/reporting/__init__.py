"""What a person is shown of a plan and of a run."""
