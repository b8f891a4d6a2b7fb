"""The same passes for agents: a server of the Model Context Protocol over the standard streams."""
