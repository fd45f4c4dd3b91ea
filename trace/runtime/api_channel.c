#include "api.h"

/* Needs no device: programs build descriptions of channels even where they use no texture. */
hipChannelFormatDesc hipCreateChannelDesc(int x, int y, int z, int w, hipChannelFormatKind kind)
{
	return (hipChannelFormatDesc){x, y, z, w, kind};
}
