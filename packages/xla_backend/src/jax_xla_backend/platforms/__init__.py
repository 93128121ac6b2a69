"""Clients, plugins, devices and their topologies; processes."""
