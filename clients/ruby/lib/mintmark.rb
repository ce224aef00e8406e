# frozen_string_literal: true

# Mintmark, an identity service in one process, from Ruby: see ../README.md.
module Mintmark
end

require_relative "mintmark/client"
require_relative "mintmark/provider"
